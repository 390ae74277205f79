"""Distributed work on many machines, and remote files; both need the extra ``scale``.

``cluster``  the workers of a Ray cluster replace this machine's processes
``sharing``  uses a cluster where an address was named, and this machine otherwise
``urls``     URLs with the methods of paths
"""
