"""Finds the app that a command line names."""

from __future__ import annotations

import importlib
import os
import sys
from functools import reduce

from dueq.app import App


class NoApp(Exception):
    """module:app does not name an app."""


def load(name: str) -> App:
    """
    Imports the module and returns the app. Raises NoApp if the name does not lead to an app. An
    exception of the module itself is passed on.
    """
    module_name, colon, path = name.partition(":")
    if not module_name or not colon or not path:
        raise NoApp(f"{name!r} is not of the form module:app, such as shop.tasks:app")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        # This module, or a package above it, is missing. A module that this one imports is not
        # meant.
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise NoApp(
            f"there is no module {error.name!r} in {os.getcwd()} or on the path of Python"
        ) from None
    try:
        app = reduce(getattr, path.split("."), module)
    except AttributeError:
        found = sorted(key for key, value in vars(module).items() if isinstance(value, App))
        apps = ", ".join(found) or "none"
        raise NoApp(f"the module {module_name} has no {path!r}; its apps: {apps}") from None
    if not isinstance(app, App):
        raise NoApp(f"{name} is of the type {type(app).__name__}, and not a dueq.App")
    return app
