"""The blocking classes. bindings/python/blocking.py makes some of them from dueq.aio."""
