// Cells of a data view as text, one line each. run.py reads them.
using System.Globalization;
using System.Text;
using Microsoft.ML;
using Microsoft.ML.Data;

static class Cells
{
    // rows N / col NAME TYPE per column, NAME in quotes / v ROW COLUMN TEXT per cell, a backslash
    // and a line feed as \\ and \n.
    public static void Print(IDataView data, TextWriter to)
    {
        var lines = new StringBuilder();
        long rows = 0;
        using (DataViewRowCursor cursor = data.GetRowCursor(data.Schema))
        {
            var getters = data.Schema.Select(column => Getter(cursor, column)).ToArray();
            for (; cursor.MoveNext(); ++rows)
                for (int c = 0; c < getters.Length; ++c)
                    lines.Append($"v {rows} {c} {Escaped(getters[c]())}\n");
        }
        to.Write($"rows {rows}\n");
        foreach (var column in data.Schema)
        {
            to.Write($"col {Quoted(column.Name)} {column.Type}\n");
            foreach (var kind in column.Annotations.Schema)
                to.Write($"meta {Quoted(kind.Name)} {kind.Type}\n");
        }
        to.Write(lines.ToString());
    }

    static Func<string> Getter(DataViewRow row, DataViewSchema.Column column)
    {
        Type raw = column.Type.RawType;
        bool vector = raw.IsGenericType && raw.GetGenericTypeDefinition() == typeof(VBuffer<>);
        var method = typeof(Cells).GetMethod(
            vector ? nameof(VectorGetter) : nameof(ItemGetter),
            System.Reflection.BindingFlags.NonPublic | System.Reflection.BindingFlags.Static)!;
        Type item = vector ? raw.GetGenericArguments()[0] : raw;
        return (Func<string>)method.MakeGenericMethod(item).Invoke(null, new object[] { row, column })!;
    }

    static Func<string> ItemGetter<T>(DataViewRow row, DataViewSchema.Column column)
    {
        var getter = row.GetGetter<T>(column);
        T value = default!;
        return () => { getter(ref value); return Text(value); };
    }

    static Func<string> VectorGetter<T>(DataViewRow row, DataViewSchema.Column column)
    {
        var getter = row.GetGetter<VBuffer<T>>(column);
        VBuffer<T> value = default;
        return () =>
        {
            getter(ref value);
            if (value.IsDense)
                return "[" + string.Join(", ", value.GetValues().ToArray().Select(Text)) + "]";
            var values = value.GetValues().ToArray();
            var slots = value.GetIndices().ToArray();
            return $"{value.Length}: {{" +
                string.Join(", ", slots.Select((slot, i) => $"{slot}: {Text(values[i])}")) + "}";
        };
    }

    static string Text<T>(T value) => value switch
    {
        bool b => b ? "1" : "0",
        float f => f.ToString("R", CultureInfo.InvariantCulture),
        double d => d.ToString("R", CultureInfo.InvariantCulture),
        TimeSpan span => span.Ticks.ToString(),
        DateTime date => date.Ticks.ToString(),
        DateTimeOffset date => $"{date.Ticks}@{(int)date.Offset.TotalMinutes}",
        DataViewRowId id => $"{id.Low}:{id.High}",
        ReadOnlyMemory<char> text => Quoted(text.ToString()),
        _ => Convert.ToString(value, CultureInfo.InvariantCulture)!,
    };

    static string Escaped(string text) => text.Replace("\\", "\\\\").Replace("\n", "\\n");
    static string Quoted(string text) => "\"" + text.Replace("\"", "\"\"") + "\"";
}
