from support.blender_dev import dev_folder, dev_pictures

__all__ = ["dev_folder", "dev_pictures"]
