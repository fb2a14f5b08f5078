// Data views of every type that ML.NET can save.
using Microsoft.ML;
using Microsoft.ML.Data;

static class Samples
{
    public sealed class Scalars
    {
        public sbyte I1 { get; set; }
        public byte U1 { get; set; }
        public short I2 { get; set; }
        public ushort U2 { get; set; }
        public int I4 { get; set; }
        public uint U4 { get; set; }
        public long I8 { get; set; }
        public ulong U8 { get; set; }
        public float R4 { get; set; }
        public double R8 { get; set; }
        public bool Bool { get; set; }
        public string Text { get; set; } = "";
        public TimeSpan Span { get; set; }
        public DateTime Date { get; set; }
        public DateTimeOffset Zoned { get; set; }
        public DataViewRowId Id { get; set; }
        [KeyType(200)] public byte Key1 { get; set; }
        [KeyType(100000)] public uint Key4 { get; set; }
        [KeyType(1UL << 62)] public ulong Key8 { get; set; }
    }

    public sealed class Features
    {
        [VectorType(7)] public VBuffer<float> Slots { get; set; }
    }

    public sealed class Vectors
    {
        public int Before { get; set; }
        [VectorType(5)] public VBuffer<double> Fixed { get; set; }
        [VectorType(2, 3)] public int[] Grid { get; set; } = new int[6];
        [VectorType(9)] public bool[] Bits { get; set; } = new bool[9];
        [VectorType(2)] public DateTimeOffset[] Dates { get; set; } = new DateTimeOffset[2];
        [VectorType(3), KeyType(10)] public uint[] Keys { get; set; } = new uint[3];
        public VBuffer<float> Variable { get; set; }
        [VectorType(2)] public string[] Words { get; set; } = { "", "" };
        public string[] MoreWords { get; set; } = Array.Empty<string>();
        public float After { get; set; }
    }

    static readonly string[] Words =
        { "", "plain", "caf\u00e9", "\U0001f600 beyond", "quote \" inside", "line\nbreak", "\u65e5\u672c" };

    static ulong Mix(int i) => unchecked((ulong)(i + 1) * 0x9E3779B97F4A7C15UL);

    static Scalars ScalarRow(int i)
    {
        ulong m = Mix(i);
        var offset = TimeSpan.FromMinutes((int)(m % 1681) - 840);
        return new Scalars
        {
            I1 = (sbyte)m, U1 = (byte)(m >> 8), I2 = (short)m, U2 = (ushort)(m >> 8), I4 = (int)m,
            U4 = (uint)(m >> 8), I8 = (long)m, U8 = m, R4 = i % 5 == 0 ? float.NaN : (float)(long)m / 7,
            R8 = i % 7 == 0 ? -0.0 : (double)m / 3, Bool = (m >> 40 & 1) != 0, Text = Words[i % Words.Length],
            Span = new TimeSpan((long)m), Date = new DateTime((long)(m % 3155378976000000000UL)),
            Zoned = new DateTimeOffset(new DateTime(1000000000000 + (long)(m >> 8)), offset),
            Id = new DataViewRowId(m, ~m), Key1 = (byte)(m % 201),
            Key4 = (uint)(m % 100001), Key8 = m >> 2
        };
    }

    // Dense, sparse, empty and full, so that blocks hold all of them side by side.
    static VBuffer<T> Sparse<T>(int i, int length, Func<int, T> value)
    {
        if (i % 4 == 0) return new VBuffer<T>(length, Enumerable.Range(0, length).Select(value).ToArray());
        var slots = Enumerable.Range(0, length).Where(s => (Mix(i + s * 31) >> 33) % 3 == 0).Take(length - 1).ToArray();
        return new VBuffer<T>(length, slots.Length, slots.Select(value).ToArray(), slots);
    }

    static Vectors VectorRow(int i) => new Vectors
    {
        Before = i,
        Fixed = Sparse(i, 5, s => i + s / 8.0),
        Grid = Enumerable.Range(0, 6).Select(s => i * 10 - s).ToArray(),
        Bits = Enumerable.Range(0, 9).Select(s => (Mix(i) >> s & 1) != 0).ToArray(),
        Dates = new[] { ScalarRow(i).Zoned, ScalarRow(i + 1).Zoned },
        Keys = Enumerable.Range(0, 3).Select(s => (uint)((i + s) % 11)).ToArray(),
        Variable = i % 3 == 0 ? new VBuffer<float>(0, Array.Empty<float>()) : Sparse(i, 1 + i % 6, s => s + 0.5f),
        Words = new[] { Words[i % Words.Length], Words[(i + 3) % Words.Length] },
        MoreWords = Words.Take(i % Words.Length).ToArray(),
        After = i / 4f
    };

    static IEnumerable<T> Rows<T>(int n, Func<int, T> row) => Enumerable.Range(0, n).Select(row);

    static void AddSlotNames(SchemaDefinition schema, string column, params string[] names)
    {
        var values = names.Select(name => name.AsMemory()).ToArray();
        schema[column].AddAnnotation("SlotNames", new VBuffer<ReadOnlyMemory<char>>(names.Length, values),
            new VectorDataViewType(TextDataViewType.Instance, names.Length));
    }

    public static IEnumerable<(string Name, IDataView Data)> All(MLContext context)
    {
        foreach (int n in new[] { 0, 1, 5, 20000 })
            yield return ($"scalars_{n}", context.Data.LoadFromEnumerable(Rows(n, ScalarRow)));
        foreach (int n in new[] { 0, 1, 40, 9000 })
        {
            var schema = SchemaDefinition.Create(typeof(Features));
            AddSlotNames(schema, "Slots", "a", "b", "", "d", "e", "f", "g");
            var rows = Rows(n, i => new Features { Slots = Sparse(i, 7, s => i - s / 2f) });
            yield return ($"matrix_{n}", context.Data.LoadFromEnumerable(rows, schema));
        }
        foreach (int n in new[] { 1, 40, 9000 })
        {
            var schema = SchemaDefinition.Create(typeof(Vectors));
            AddSlotNames(schema, "Fixed", "one", "two", "", "four", "five");
            yield return ($"vectors_{n}", context.Data.LoadFromEnumerable(Rows(n, VectorRow), schema));
        }
    }
}
