// The table of edges: sorted by any column, filtered by name, direction and the graph's threshold.
const PAGE = 200;
const FIELDS = [
  { key: "source", title: "source", value: (at) => content.names[edges.source[at]].toLowerCase(), cell: (at) => link(edges.source[at]) },
  { key: "arrow", title: "", cell: (at) => (edges.directed[at] ? "→" : "–") },
  { key: "target", title: "target", value: (at) => content.names[edges.target[at]].toLowerCase(), cell: (at) => link(edges.target[at]) },
  ...[["coefficient", "coefficient"], ["partial", "partial correlation"], ["gain", "BIC gain"]].map(([key, title]) => (
    { key, title, number: true, absent: !edges[key], value: (at) => edges[key][at], cell: (at) => figure(edges[key][at]) })),
  ...[["adjacent", "in % of the runs"], ["this_way", "this way in %"]].map(([key, title]) => (
    { key, title, number: true, absent: !boot, value: (at) => boot[key][at], cell: (at) => (100 * boot[key][at]).toFixed(0) })),
  { key: "directed", title: "direction", value: (at) => -edges.directed[at], cell: (at) => (edges.directed[at] ? "compelled" : "undirected") },
  { key: "close", title: "close call", absent: !edges.close, value: (at) => (edges.close[at] ? edges.close[at][1] : Infinity), cell: (at) => (edges.close[at] ? `≈ ${edges.close[at][0]}, ${figure(edges.close[at][1])}` : "") },
  { key: "verdict", title: "truth", absent: content.truth === null, value: (at) => verdicts[at], cell: (at) => verdicts[at] },
].filter((field) => !field.absent);
const sorting = { key: null, descending: false, rows: PAGE };

function startEdges() {
  const table = find("edge-table");
  const head = FIELDS.map((field) => make("th", { scope: "col", class: field.number && "number", "data-key": field.key }, field.value ? [make("button", { type: "button", text: field.title, onclick: () => sortBy(field) })] : [field.title]));
  table.append(make("thead", {}, [make("tr", {}, head)]), make("tbody"));
  const again = () => { sorting.rows = PAGE; showEdges(); };
  find("edge-filter").addEventListener("input", again);
  find("edge-direction").addEventListener("change", again);
  find("edge-close").addEventListener("change", again);
  find("close-choice").hidden = !edges.close;
  find("more-edges").addEventListener("click", () => { sorting.rows += 5 * PAGE; showEdges(); });
  find("edges-hint").textContent = [
    thinned,
    "Undirected edges are those that graphs of the equivalence class direct both ways.",
    "Compelled ones point the same way in all of them.",
    edges.close ? `${content.close_explained}; what changes, and by how much the BIC is then worse.` : "",
    edges.gain ? `The BIC gain is by how much the BIC would be worse without the edge. ${content.run.bic}` : "",
    boot ? `${counted(boot.runs, "run")} on resampled rows: how many have the pair adjacent, and how many have this arrow in their equivalence class.` : "",
    "The slider of the graph filters this table too.",
  ].join(" ");
  listeners.push(showEdges);
}

function sortBy(field) {
  sorting.descending = sorting.key === field.key ? !sorting.descending : Boolean(field.number);
  sorting.key = field.key;
  for (const heading of find("edge-table").querySelectorAll("th")) {
    if (heading.getAttribute("data-key") === field.key) heading.setAttribute("aria-sort", sorting.descending ? "descending" : "ascending");
    else heading.removeAttribute("aria-sort");
  }
  showEdges();
}

function showEdges() {
  const wanted = find("edge-filter").value.trim().toLowerCase(), direction = find("edge-direction").value;
  const rows = [];
  for (let at = 0; at < count; at++) {
    if (!isShown(at) || (direction !== "all" && String(edges.directed[at]) !== direction)) continue;
    if (find("edge-close").checked && !edges.close[at]) continue;
    if (state.chosen !== null && edges.source[at] !== state.chosen && edges.target[at] !== state.chosen) continue;
    if (wanted && ![edges.source[at], edges.target[at]].some((end) => content.names[end].toLowerCase().includes(wanted))) continue;
    rows.push(at);
  }
  const field = FIELDS.find((entry) => entry.key === sorting.key);
  if (field) {
    const sign = sorting.descending ? -1 : 1;
    rows.sort((i, j) => { const a = field.value(i), b = field.value(j); return sign * (a < b ? -1 : a > b ? 1 : 0); });
  }
  const body = rows.slice(0, sorting.rows).map((at) => make("tr", {}, FIELDS.map((entry) => make("td", { class: entry.number && "number" }, [entry.cell(at)]))));
  find("edge-table").tBodies[0].replaceChildren(...body);
  find("edges-text").textContent = `${rows.length} of ${counted(count, "edge")}${state.chosen === null ? "" : " (of the chosen variable)"}`;
  find("more-edges").hidden = rows.length <= sorting.rows;
}
