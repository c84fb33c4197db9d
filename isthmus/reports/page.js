"use strict";
const FIGURES = @@FIGURES@@;
const chosen = {};
let printing = false;
function colours() {
  const style = getComputedStyle(document.documentElement), found = {};
  for (const name of ["paper", "card", "ink", "soft", "rule", "accent", "second", "third", "muted", "warn"])
    found["@" + name] = style.getPropertyValue("--" + name).trim();
  if (printing) Object.assign(found, {"@paper": "#fff", "@ink": "#111", "@soft": "#444", "@rule": "#ccc"});
  return found;
}
function painted(value, palette) {
  if (typeof value === "string") return Object.hasOwn(palette, value) ? palette[value] : value;
  if (Array.isArray(value)) return value.map((item) => painted(item, palette));
  if (value && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, painted(item, palette)]));
  return value;
}
function draw(name) {
  const box = document.getElementById(name), figure = FIGURES[name], palette = colours();
  const k = chosen[name] || 0, variant = painted(figure.variants[k], palette);
  const axis = { gridcolor: palette["@rule"], zerolinecolor: palette["@rule"], linecolor: palette["@rule"],
    automargin: true, exponentformat: "power", title: { standoff: 8 } };
  const given = variant.layout;
  const layout = Object.assign({}, given, {
    height: figure.height, autosize: true, margin: { l: 10, r: 10, t: 12, b: 10 },
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, DejaVu Sans, sans-serif", size: 12, color: palette["@ink"] },
    hoverlabel: { bgcolor: palette["@card"], bordercolor: palette["@rule"], font: { color: palette["@ink"] } },
    legend: Object.assign({ orientation: "h", y: 1.02, yanchor: "bottom", x: 0 }, given.legend || {}),
    xaxis: Object.assign({}, axis, given.xaxis, { title: Object.assign({ standoff: 8 }, (given.xaxis || {}).title) }),
    yaxis: Object.assign({}, axis, given.yaxis, { title: Object.assign({ standoff: 8 }, (given.yaxis || {}).title) }),
  });
  if (printing) { layout.width = Math.min(box.clientWidth || 640, 640); layout.autosize = false; }
  Plotly.react(box, variant.data, layout, { responsive: true, displaylogo: false, displayModeBar: false,
    scrollZoom: false, showLink: false });
  const note = document.getElementById("note-" + name);
  if (note) note.textContent = figure.notes[k] || "";
}
function drawAll() { for (const name of Object.keys(FIGURES)) draw(name); }
for (const select of document.querySelectorAll("select[data-figure]"))
  select.addEventListener("change", () => {
    chosen[select.dataset.figure] = Number(select.value);
    draw(select.dataset.figure);
  });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
addEventListener("beforeprint", () => { printing = true; drawAll(); });
addEventListener("afterprint", () => { printing = false; drawAll(); });
drawAll();
document.documentElement.dataset.ready = "yes";
