"""A site of Django for test_django.py and its worker processes."""
