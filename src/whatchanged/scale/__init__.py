"""Work that is spread over many machines, and files that lie elsewhere; both need the extra ``scale``.

``cluster``  the workers of a Ray cluster in place of this machine's processes
``places``   URLs in place of paths
"""
