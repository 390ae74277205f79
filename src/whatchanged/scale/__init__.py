"""Work that is spread over many machines, and files that lie elsewhere; both need the extra ``scale``.

``cluster``  the workers of a Ray cluster in place of this machine's processes
``sharing``  the same where an address was named, and this machine otherwise
``urls``     URLs in place of paths
"""
