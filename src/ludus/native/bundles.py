"""NamedTuples that kernels take as arguments: a game's rules, the arrays of a forest.

`AttributeTemplate` and `impl_ret_borrowed` are not public API of Numba.
"""

from typing import Any

import numba
from numba import types
from numba.core import cgutils
from numba.core.imputils import impl_ret_borrowed
from numba.core.typing.templates import AttributeTemplate
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)


class BundleType(types.Type):
    """The type of a NamedTuple: equal to another only if class, field types and digest are."""

    def __init__(self, field_types: tuple[Any, ...], instance_class: Any, digest: str = "", home: str = ""):
        """`home` is a name of the class's module that is the same in every process; by default the module's own."""
        self.types = tuple(field_types)
        self.fields = dict(zip(instance_class._fields, self.types, strict=True))
        self.instance_class = instance_class
        self.digest = digest
        described = ", ".join(map(str, field_types))
        where = home or instance_class.__module__
        super().__init__(f"{where}.{instance_class.__qualname__}({described})#{digest}")

    @property
    def key(self) -> str:
        return self.name


@register_model(BundleType)
class BundleModel(models.StructModel):
    """A bundle in machine code: a structure of its fields."""

    def __init__(self, manager: Any, bundle_type: Any):
        super().__init__(manager, bundle_type, list(bundle_type.fields.items()))


@infer_getattr
class _BundleAttribute(AttributeTemplate):
    key = BundleType

    def generic_resolve(self, bundle_type: Any, name: str) -> Any:  # type: ignore[override]
        return bundle_type.fields.get(name)


@lower_getattr_generic(BundleType)
def _lower_attribute(context: Any, builder: Any, bundle_type: Any, value: Any, name: str) -> Any:
    struct = cgutils.create_struct_proxy(bundle_type)(context, builder, value=value)
    return impl_ret_borrowed(context, builder, bundle_type.fields[name], getattr(struct, name))


@unbox(BundleType)
def _unbox_bundle(bundle_type: Any, value: Any, c: Any) -> NativeValue:
    struct = cgutils.create_struct_proxy(bundle_type)(c.context, c.builder)
    failed = cgutils.false_bit
    cleanups: list[Any] = []
    for index, (name, field_type) in enumerate(bundle_type.fields.items()):
        field = c.unbox(field_type, c.pyapi.tuple_getitem(value, index))
        setattr(struct, name, field.value)
        failed = c.builder.or_(failed, field.is_error)
        if field.cleanup is not None:
            cleanups.append(field.cleanup)

    def cleanup() -> None:
        for each in cleanups:
            each()

    return NativeValue(struct._getvalue(), is_error=failed, cleanup=cleanup)


def bundle(instance_class: Any) -> Any:
    """Mark a NamedTuple of arrays as one to hand to kernels."""

    @typeof_impl.register(instance_class)
    def typeof_bundle(value: Any, context: Any) -> BundleType:
        return BundleType(tuple(numba.typeof(field) for field in value), instance_class)

    return instance_class
