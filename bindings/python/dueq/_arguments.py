"""The arguments that the handler of a task takes."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from inspect import Parameter
from typing import Any, NamedTuple

from dueq._forms import Form, form_of, write_any
from dueq._gaps import Gap, without_gaps
from dueq.errors import InvalidError
from dueq.serializers import JSON, BadTask, Serializer, arguments_of, body_of


class _Provided:
    def __repr__(self) -> str:
        return "dueq.PROVIDED"


PROVIDED: Any = _Provided()
"""
The default of a parameter whose argument a middleware gives, by Job.provide(). A push cannot give
it.
"""

_VARIADIC = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)


class _Forms(NamedTuple):
    """The forms of a handler's parameters."""

    places: list[tuple[str, Form | None]]
    rest: Form | None
    """Of each argument of *args."""
    names: dict[str, Form | None]
    others: Form | None
    """Of each argument of **kwargs."""


class Arguments:
    """Makes the body of a push from its arguments, and the arguments of a job from its body."""

    def __init__(self, handler: Callable[..., Any], owner: str, *, known: bool = True) -> None:
        """owner: how errors begin. known: whether this is the handler that a worker calls."""
        self.handler = handler
        self._owner = owner
        self._known = known
        self._signature = _signature(handler)
        self._declared = _signature(_declared(handler))
        parameters = self._declared.parameters if self._declared else {}
        self._takes = {name for name, one in parameters.items() if one.kind not in _VARIADIC}
        self._provided = {name for name, one in parameters.items() if one.default is PROVIDED}

    def body(
        self, serializer: Serializer, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> bytes:
        """
        The body of a push. Raises TypeError for arguments that the handler does not take, and
        TypeError or InvalidError for one that cannot be written, or that the handler's annotation
        could not read.
        """
        if self._signature:
            try:
                self._signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(f"{self._owner}: {error}") from None
            if self._provided:
                self._refuse_provided(args, kwargs, TypeError)
        if self._forms and serializer is JSON:
            written = self._each(args, kwargs, _written, self._wrong)
            return self._encoded(serializer, *written)
        args, kwargs = without_gaps(args, kwargs)
        try:
            return body_of(serializer, args, kwargs)
        except Exception as error:
            by_value: tuple[Sequence[object], Mapping[str, object]] = (args, kwargs)
            if isinstance(error, TypeError) and not self._known and serializer is JSON:
                by_value = self._each_by_value(args, kwargs)
        # Names the argument that is wrong, if one still is.
        return self._encoded(serializer, *by_value)

    def of_job(self, serializer: Serializer, body: bytes) -> tuple[list[Any], dict[str, Any]]:
        """
        The arguments in the body of a message, as the annotations of the handler say. Raises
        BadTask.
        """
        args, kwargs = arguments_of(serializer, body)
        if self._provided:
            self._refuse_provided(args, kwargs, BadTask)
        if self._forms:
            return self._each(args, kwargs, Form.read, self._bad)
        return args, kwargs

    def provided(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """
        Of the values of Job.provide() those that the handler takes. Raises TypeError if it needs
        more.
        """
        if missing := self._provided - values.keys():
            raise TypeError(f"{self._owner}: no middleware provides {', '.join(sorted(missing))}")
        return {name: value for name, value in values.items() if name in self._takes}

    def _refuse_provided(
        self, args: Sequence[object], kwargs: Mapping[str, object], kind: type[Exception]
    ) -> None:
        """Raises an exception of this kind for an argument that only a middleware may give."""
        assert self._declared
        try:
            given = self._declared.bind_partial(*args, **kwargs).arguments.keys()
        except TypeError as error:
            raise kind(f"{self._owner}: {error}") from None
        if wrong := self._provided & given:
            raise kind(f"{self._owner}: only a middleware may provide {', '.join(sorted(wrong))}")

    @cached_property
    def _forms(self) -> _Forms | None:
        """
        None: the handler takes what JSON has. Read at the first push or job, as an annotation may
        name a class that the module defines further below.
        """
        if not self._signature or not self._known:
            return None
        declared = _declared(self.handler)
        forms = {name: form_of(hint) for name, hint in _hints(declared).items()}
        if not any(forms.values()):
            return None
        found = _Forms([], None, {}, None)
        for name, one in inspect.signature(declared, follow_wrapped=False).parameters.items():
            form = forms.get(name)
            if one.kind is Parameter.VAR_POSITIONAL:
                found = found._replace(rest=form)
            elif one.kind is Parameter.VAR_KEYWORD:
                found = found._replace(others=form)
            else:
                found.names[name] = form
            if one.kind in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD):
                found.places.append((name, form))
        return found

    def _each(
        self,
        args: Sequence[object],
        kwargs: Mapping[str, object],
        change: Callable[[Form, Any], Any],
        wrong: Callable[[str, Exception], Exception],
    ) -> tuple[list[Any], dict[str, Any]]:
        """
        Changes each argument whose parameter has a form. An argument that is not known yet becomes
        None. wrong: makes the error to raise.
        """
        forms = self._forms
        assert forms

        def changed(name: str, form: Form | None, value: Any) -> Any:
            if isinstance(value, Gap):
                return None
            if form is None:
                return value
            try:
                return change(form, value)
            except Exception as error:
                raise wrong(name, error) from error

        places = iter(forms.places)
        listed = []
        for number, value in enumerate(args, 1):
            name, form = next(places, (f"argument {number}", forms.rest))
            listed.append(changed(name, form, value))
        named = {
            name: changed(name, forms.names.get(name, forms.others), value)
            for name, value in kwargs.items()
        }
        return listed, named

    def _each_by_value(
        self, args: tuple[object, ...], kwargs: Mapping[str, object]
    ) -> tuple[list[Any], dict[str, Any]]:
        """Writes each argument by its own type: the handler is in another program."""
        written = []
        for name, value in self._names_of(args, kwargs):
            try:
                written.append(write_any(value))
            except Exception as error:
                raise self._wrong(name, error) from error
        count = len(args)
        return written[:count], dict(zip(kwargs, written[count:], strict=True))

    def _encoded(
        self,
        serializer: Serializer,
        args: Sequence[object],
        kwargs: Mapping[str, Any],
    ) -> bytes:
        try:
            return body_of(serializer, args, kwargs)
        except Exception:
            for name, value in self._names_of(args, kwargs):
                try:
                    body_of(serializer, (value,), {})
                except Exception as error:
                    raise self._wrong(name, error, self._hint(name, value)) from error
            raise

    def _names_of(
        self, args: Sequence[object], kwargs: Mapping[str, object]
    ) -> Iterator[tuple[str, object]]:
        names = iter(self._signature.parameters.values() if self._signature else ())
        for place, value in enumerate(args, 1):
            shown = next(names, None)
            plain = shown and shown.kind is not shown.VAR_POSITIONAL
            yield shown.name if shown and plain else f"argument {place}", value
            if not plain:
                names = iter(())
        yield from kwargs.items()

    def _hint(self, name: str, value: object) -> str:
        """What to do about an argument that JSON does not have."""
        if not self._known or form_of(type(value)) is None:
            return ""
        try:
            typing.get_type_hints(_declared(self.handler))
        except Exception as error:
            return f"; the worker cannot read the annotations: {error}"
        return f"; annotate {name} with {type(value).__name__}, so that the worker reads it back"

    def _wrong(self, name: str, error: Exception, hint: str = "") -> Exception:
        kind = TypeError if isinstance(error, TypeError) else InvalidError
        return kind(f"{self._owner}: {name}: {error}{hint}")

    def _bad(self, name: str, error: Exception) -> Exception:
        return BadTask(f"{self._owner}: {name}: {error}")


def _written(form: Form, value: Any) -> Any:
    """Writes an argument, and reads it as the worker will, to find out now what is wrong."""
    written = form.write(value)
    form.read(written)
    return written


def _signature(handler: Callable[..., Any]) -> inspect.Signature | None:
    """
    The signature of the handler itself, not of a function that it wraps. None: some C functions
    have none.
    """
    try:
        return inspect.signature(handler, follow_wrapped=False)
    except (TypeError, ValueError):
        return None


def _declared(handler: Callable[..., Any]) -> Callable[..., Any]:
    """
    The function that declares the arguments: the handler, or the function to which a decorator
    passes all on.
    """
    while inner := getattr(handler, "__wrapped__", None):
        signature = _signature(handler)
        if not signature or any(one.kind not in _VARIADIC for one in signature.parameters.values()):
            break
        handler = inner
    return handler


def _hints(handler: Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a function, but for those whose names are unknown when it runs."""
    while isinstance(handler, partial):
        handler = handler.func
    if not hasattr(handler, "__annotations__"):
        handler = type(handler).__call__
    try:
        return typing.get_type_hints(handler, include_extras=True)
    except Exception:
        pass
    found: dict[str, Any] = {}
    for name, annotation in getattr(handler, "__annotations__", {}).items():

        def one() -> None: ...

        one.__annotations__ = {name: annotation}
        try:
            known = getattr(inspect.unwrap(handler), "__globals__", {})
            found |= typing.get_type_hints(one, known, include_extras=True)
        except Exception:
            continue
    return found
