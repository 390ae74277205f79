"""What several rooms of tests share; imported as ``support.NAME``."""
