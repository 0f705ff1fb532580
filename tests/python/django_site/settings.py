import django

SECRET_KEY = "of a test"
USE_TZ = True
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
INSTALLED_APPS = ["django_site", *(["django_tasks"] if django.VERSION < (6, 0) else [])]
TASKS = {
    "default": {
        "BACKEND": "dueq.django.DueqBackend",
        "QUEUES": ["default", "mail"],
        "OPTIONS": {"max_attempts": 2, "backoff": 0.05},
    },
    "kept": {
        "BACKEND": "dueq.django.DueqBackend",
        "QUEUES": ["first", "kept"],
        "OPTIONS": {"max_attempts": 2, "backoff": 0.05, "keep": 3600},
    },
    "dummy": {
        "BACKEND": (
            "django.tasks.backends.dummy.DummyBackend"
            if django.VERSION >= (6, 0)
            else "django_tasks.backends.dummy.DummyBackend"
        )
    },
}
