"""Data views of every type that ML.NET can save, made by its own builder of views."""

import System
from System.Reflection import BindingFlags

WORDS = ("", "plain", "caf\u00e9", "\U0001f600 beyond", 'quote " inside', "line\nbreak", "\u65e5\u672c")
ANY = BindingFlags.Public | BindingFlags.NonPublic | BindingFlags.Instance


def mix(i):
    return (i + 1) * 0x9E3779B97F4A7C15 % 2**64


class Builder:
    """Columns one by one; ML.NET's class is internal, so its methods are called by reflection."""

    def __init__(self, mlnet, rows):
        import clr
        self.data, self.type_of, self.rows = mlnet.ml.Data, clr.GetClrType, rows
        self.lazy, self.schema = mlnet.ml.ValueGetter, mlnet.ml.DataViewSchema
        self.kind = self.type_of(self.data.TextLoader).Assembly.GetType(
            "Microsoft.ML.Data.ArrayDataViewBuilder")
        self.own = self.kind.GetConstructors(ANY)[0].Invoke(objects(mlnet.context))

    def call(self, last, item, *arguments):
        """AddColumn with that many parameters, the last of which is of that type."""
        for method in self.kind.GetMethods(ANY):
            parameters = method.GetParameters()
            if method.Name == "AddColumn" and len(parameters) == len(arguments) and \
                    str(parameters[len(arguments) - 1].ParameterType) == last:
                method.MakeGenericMethod(self.type_of(item)).Invoke(self.own, objects(*arguments))
                return
        raise LookupError(last)

    def numbers(self, kind):
        return getattr(self.data.NumberDataViewType, kind)

    def key(self, item, count):
        return self.data.KeyDataViewType(self.type_of(item), System.UInt64(count))

    def one(self, name, item, described, value):
        """A value a row."""
        values = System.Array[item]([value(i) for i in range(self.rows)])
        self.call("T[]", item, name, described, values)

    def vector(self, name, item, described, value, slot_names=None, shape=None):
        """A vector a row: what `value` gives, all slots or (length, {slot: value})."""
        vectors = self.data.VBuffer[item]

        def made(given):
            if isinstance(given, list):
                return vectors(len(given), len(given), System.Array[item](given), None)
            size, held = given
            return vectors(size, len(held), System.Array[item](list(held.values())),
                           System.Array[System.Int32](list(held)))

        rows = System.Array[vectors]([made(value(i)) for i in range(self.rows)])
        names = [] if slot_names is None else [self.names(slot_names)]
        self.call("Microsoft.ML.Data.VBuffer`1[T][]", item, name, *names, described, rows)
        if shape is not None:
            column = list(self.kind.GetField("_columns", ANY).GetValue(self.own))[-1]
            column.GetType().GetField("Type", ANY).SetValue(
                column, self.data.VectorDataViewType(described, *shape))

    def names(self, texts):
        return self.getter(System.ReadOnlyMemory[System.Char], [text(name) for name in texts])

    def getter(self, item, values):
        """Gives ML.NET a vector when it asks for it."""
        vectors, held = self.data.VBuffer[item], System.Array[item](values)
        return self.lazy[vectors](lambda _: vectors(len(held), len(held), held, None))

    def view(self, **key_values):
        """The view; some keys have values: `name=(item, type, values)`."""
        view = self.kind.GetMethod("GetDataView", ANY).Invoke(
            self.own, objects(System.Int32(self.rows)))
        if not key_values:
            return view
        schema = self.schema.Builder()
        for column in view.Schema:
            beside = self.schema.Annotations.Builder()
            if column.Name in key_values:
                item, described, values = key_values[column.Name]
                beside.Add[self.data.VBuffer[item]](
                    "KeyValues", self.data.VectorDataViewType(described, len(values)),
                    self.getter(item, values), None)
            schema.AddColumn(column.Name, column.Type, beside.ToAnnotations())
        view.GetType().GetField("_schema", ANY).SetValue(view, schema.ToSchema())
        return view


def objects(*values):
    return System.Array[System.Object](list(values))


def text(value):
    return System.MemoryExtensions.AsMemory(value)


def zoned(i):
    m = mix(i)
    local = System.DateTime(System.Int64(10**12 + (m >> 8)))
    return System.DateTimeOffset(local, System.TimeSpan.FromMinutes(float(m % 1681 - 840)))


def signed(m, bits):
    m %= 2**bits
    return m - 2**bits if m >= 2**(bits - 1) else m


def scalars(mlnet, rows):
    made = Builder(mlnet, rows)
    for name, bits in (("SByte", 8), ("Int16", 16), ("Int32", 32), ("Int64", 64)):
        item = getattr(System, name)
        made.one(name, item, made.numbers(name), lambda i, t=item, b=bits: t(signed(mix(i), b)))
    for name, bits in (("Byte", 8), ("UInt16", 16), ("UInt32", 32), ("UInt64", 64)):
        item = getattr(System, name)
        made.one(name, item, made.numbers(name),
                 lambda i, t=item, b=bits: t((mix(i) >> 5) % 2**b))
    made.one("Single", System.Single, made.numbers("Single"),
             lambda i: System.Single(float("nan") if i % 5 == 0 else signed(mix(i), 64) / 7))
    made.one("Double", System.Double, made.numbers("Double"),
             lambda i: -0.0 if i % 7 == 0 else mix(i) / 3)
    types = made.data
    bits_and_texts(made)
    made.one("Span", System.TimeSpan, types.TimeSpanDataViewType.Instance,
             lambda i: System.TimeSpan(System.Int64(signed(mix(i), 64))))
    made.one("Date", System.DateTime, types.DateTimeDataViewType.Instance,
             lambda i: System.DateTime(System.Int64(mix(i) % 3155378976000000000)))
    made.one("Zoned", System.DateTimeOffset, types.DateTimeOffsetDataViewType.Instance, zoned)
    made.one("Id", types.DataViewRowId, types.RowIdDataViewType.Instance,
             lambda i: types.DataViewRowId(System.UInt64(mix(i)), System.UInt64(mix(i) ^ 2**64 - 1)))
    for item, count in ((System.Byte, 200), (System.UInt32, 100000), (System.UInt64, 2**62)):
        made.one(f"Key{count}", item, made.key(item, count),
                 lambda i, t=item, n=count: t(mix(i) % (n + 1)))
    return made.view()


def bits_and_texts(made):
    types = made.data
    made.one("Bool", System.Boolean, types.BooleanDataViewType.Instance,
             lambda i: mix(i) >> 40 & 1 != 0)
    made.one("Text", System.ReadOnlyMemory[System.Char], types.TextDataViewType.Instance,
             lambda i: text(WORDS[i % len(WORDS)]))


def blocks(mlnet, rows):
    """What has no whole number of bytes a row, in more than one block."""
    made = Builder(mlnet, rows)
    bits_and_texts(made)
    return made.view()


def sparse(i, size, value):
    """Dense, sparse, empty and full, so that blocks hold all of them side by side."""
    if i % 4 == 0:
        return [value(slot) for slot in range(size)]
    slots = [s for s in range(size) if (mix(i + s * 31) >> 33) % 3 == 0][:size - 1]
    return size, {slot: value(slot) for slot in slots}


def matrix(mlnet, rows):
    made = Builder(mlnet, rows)
    made.vector("Slots", System.Single, made.numbers("Single"),
                lambda i: sparse(i, 7, lambda s: System.Single(i - s / 2)), ["a", "b", "", *"defg"])
    return made.view()


def vectors(mlnet, rows):
    made = Builder(mlnet, rows)
    types, count = made.data, len(WORDS)
    made.one("Before", System.Int32, made.numbers("Int32"), System.Int32)
    made.vector("Fixed", System.Double, made.numbers("Double"),
                lambda i: sparse(i, 5, lambda s: i + s / 8), ["one", "two", "", "four", "five"])
    made.vector("Grid", System.Int32, made.numbers("Int32"),
                lambda i: [System.Int32(i * 10 - s) for s in range(6)], shape=(2, 3))
    made.vector("Bits", System.Boolean, types.BooleanDataViewType.Instance,
                lambda i: [mix(i) >> s & 1 != 0 for s in range(9)])
    made.vector("Dates", System.DateTimeOffset, types.DateTimeOffsetDataViewType.Instance,
                lambda i: [zoned(i), zoned(i + 1)])
    made.vector("Keys", System.UInt32, made.key(System.UInt32, 10),
                lambda i: [System.UInt32((i + s) % 11) for s in range(3)])
    made.vector("Variable", System.Single, made.numbers("Single"),
                lambda i: [] if i % 3 == 0 else sparse(i, 1 + i % 6, lambda s: System.Single(s + 0.5)))
    memory, texts = System.ReadOnlyMemory[System.Char], types.TextDataViewType.Instance
    made.vector("Words", memory, texts, lambda i: [text(WORDS[i % count]), text(WORDS[(i + 3) % count])])
    made.vector("MoreWords", memory, texts, lambda i: [text(w) for w in WORDS[:i % count]])
    made.one("After", System.Single, made.numbers("Single"), lambda i: System.Single(i / 4))
    return made.view()


def all_samples(mlnet):
    for make, counts in ((scalars, (0, 1, 400)), (blocks, (9000,)), (matrix, (1, 40, 9000)),
                         (vectors, (1, 300))):
        for rows in counts:
            yield f"{make.__name__}_{rows}", make(mlnet, rows)
