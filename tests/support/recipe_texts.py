"""The texts of small recipes that tests change here and there."""

MINIMAL = """
name = "mini"
description = "d"
[method]
name = "pcl"
[[stages]]
name = "caption"
tasks = { caption = 1 }
steps = 3
batch = 8
lr = 1e-3
"""

CROSS = """
name = "x"
description = "x"
[method]
name = "pcl-cross-task"
classes = 3
[[stages]]
name = "one"
data = "single"
tasks = { mlm = 9, mvcl = 1 }
steps = 1
batch = 4
lr = 1e-3
[[stages]]
name = "two"
tasks = { mlm = 12, fgvc = 3 }
steps = 1
batch = 4
lr = 1e-3
"""
