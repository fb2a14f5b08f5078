"""Charts as SVG: just what publish.py draws, and nothing else."""

from html import escape

FONT = "font-family='system-ui, sans-serif' font-size='12'"
GREY, LINE = "#666", "#ddd"


class Drawing:
    """Shapes on a white page of a fixed size; the origin is the top left corner."""

    def __init__(self, width, height, title):
        self.parts = [f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' "
                      f"width='{width}' height='{height}' {FONT}>",
                      f"<title>{escape(title)}</title>",
                      f"<rect width='{width}' height='{height}' fill='white'/>"]

    def line(self, x1, y1, x2, y2, colour=LINE, width=1):
        self.parts.append(f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' "
                          f"stroke='{colour}' stroke-width='{width}'/>")

    def path(self, points, colour):
        text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f"<polyline points='{text}' fill='none' stroke='{colour}' "
                          "stroke-width='2'/>")

    def dot(self, x, y, colour, title, radius=4):
        self.parts.append(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{radius}' fill='{colour}'>"
                          f"<title>{escape(title)}</title></circle>")

    def text(self, x, y, text, anchor="start", colour="black", weight="normal"):
        self.parts.append(f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' "
                          f"fill='{colour}' font-weight='{weight}'>{escape(text)}</text>")

    def __str__(self):
        return "\n".join(self.parts + ["</svg>\n"])


class LogScale:
    """Values of some powers of ten on a stretch of the page."""

    def __init__(self, values, start, end):
        from math import ceil, floor, log10
        self.log = log10
        self.low = floor(log10(min(values)))
        self.high = max(ceil(log10(max(values))), self.low + 1)
        self.start, self.end = start, end

    def __call__(self, value):
        share = (self.log(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def ticks(self):
        return [10.0 ** power for power in range(self.low, self.high + 1)]


def power_text(value):
    """1000000 -> 10^6 in raised digits; small powers as they are."""
    if value < 10000:
        return f"{value:g}"
    raised = str.maketrans("0123456789", "\u2070\u00b9\u00b2\u00b3\u2074\u2075\u2076\u2077\u2078\u2079")
    return "10" + str(len(f"{value:.0f}") - 1).translate(raised)


def line_chart(title, across, lines):
    """Points of each line as [(x, y)] by name and colour: {name: (colour, points)}."""
    width, height, left, right, top, bottom = 640, 360, 70, 130, 40, 50
    points = [p for _, ps in lines.values() for p in ps]
    x = LogScale([p[0] for p in points], left, width - right)
    y = LogScale([p[1] for p in points], height - bottom, top)
    page = Drawing(width, height, title)
    page.text(left, 22, title, weight="bold")
    for tick in x.ticks():
        page.line(x(tick), top, x(tick), height - bottom)
        page.text(x(tick), height - bottom + 18, power_text(tick), "middle", GREY)
    for tick in y.ticks():
        page.line(left, y(tick), width - right, y(tick))
        page.text(left - 8, y(tick) + 4, power_text(tick), "end", GREY)
    page.text((left + width - right) / 2, height - 12, across, "middle", GREY)
    labels = []
    for name, (colour, ps) in lines.items():
        page.path([(x(a), y(b)) for a, b in ps], colour)
        for a, b in ps:
            page.dot(x(a), y(b), colour, f"{name}: {b:.3g} at {a:g}")
        labels.append([y(ps[-1][1]), name, colour])
    below = 0
    for at, name, colour in sorted(labels):
        below = max(at, below + 14)
        page.text(width - right + 10, below + 4, name, colour=colour)
    return str(page)


def dot_chart(title, subtitle, rows, colours, unit_at=1):
    """A line per row: (heading or None, label, [(name, colour key, ratio)]). Ratios are on a
    logarithmic axis; `unit_at` is drawn as a line."""
    label_width, width, step, top = 330, 900, 18, 76
    ratios = [r for _, _, dots in rows for _, _, r in dots]
    height = top + step * (len(rows) + sum(1 for h, _, _ in rows if h)) + 30
    x = LogScale(ratios + [unit_at], label_width + 10, width - 20)
    page = Drawing(width, height, title)
    page.text(12, 22, title, weight="bold")
    page.text(12, 40, subtitle, colour=GREY)
    for tick in x.ticks():
        page.line(x(tick), top - 12, x(tick), height - 20, "#999" if tick == unit_at else LINE)
        page.text(x(tick), top - 16, f"{tick:g}", "middle", GREY)
    legend = label_width + 10
    for key, colour in colours.items():
        page.dot(legend, 36, colour, key)
        page.text(legend + 8, 40, key)
        legend += 18 + 7 * len(key) + 10
    y = top
    for heading, label, dots in rows:
        if heading:
            page.text(12, y + 4, heading, weight="bold")
            y += step
        page.text(24, y + 4, label)
        page.line(label_width + 10, y, width - 20, y)
        for name, key, ratio in dots:
            page.dot(x(ratio), y, colours[key], f"{name}: {ratio:.3g} x the limit",
                     5 if key == "dapple" else 4)
        y += step
    return str(page)
