// ML.NET on one side of a comparison with dapple; run.py is the other side.
//   print FILE...   loads each file and prints its cells to FILE.cells
//   save FOLDER     saves NAME.idv for every sample, and its cells as NAME.idv.cells
using Microsoft.ML;

var context = new MLContext(seed: 1);
if (args[0] == "print")
{
    foreach (string file in args.Skip(1))
        Write(file + ".cells", context.Data.LoadFromBinary(file));
}
else
{
    foreach (var (name, data) in Samples.All(context))
    {
        string file = Path.Combine(args[1], name + ".idv");
        using (var stream = File.Create(file)) context.Data.SaveAsBinary(data, stream);
        Write(file + ".cells", data);
    }
}

static void Write(string path, IDataView data)
{
    using var to = new StreamWriter(path);
    Cells.Print(data, to);
}
