// What the reader has chosen: a variable, a threshold, a view; and the functions to call when it changes.
const edges = content.edges;
const count = edges.source.length;
const strength = edges.partial || edges.coefficient;
const boot = content.bootstrap;
const place = new Array(content.names.length);
content.order.forEach((variable, at) => { place[variable] = at; });
const state = { chosen: null, threshold: 0, truth: false, shares: boot !== null };
const listeners = [];

// The verdicts on pairs compared with the truth, in their order; styles keep their names whatever the words are.
const [RIGHT, MISSING, EXTRA, REVERSED] = content.verdicts;
const VERDICT_STYLES = ["right", "missing", "extra", "reversed"];
const verdictStyle = (verdict) => VERDICT_STYLES[content.verdicts.indexOf(verdict)];

// Shown where the page holds only some of the edges.
const thinned = count < content.edges_in_all ? `This page holds ${count} of ${content.edges_in_all} edges, ${strength ? "the strongest" : "spread evenly"}. ` : "";

// What the picture shows of an edge, and the slider filters by: its share of the runs, or its strength.
const weight = (at) => (state.shares ? boot.adjacent[at] : strength ? Math.abs(strength[at]) : null);
const weighed = () => state.shares || strength !== null;
const isShown = (at) => !weighed() || weight(at) >= state.threshold;

// What is known of an edge beside its direction, in words.
function noteOn(at) {
  const known = strength ? [figure(strength[at])] : [];
  if (boot) known.push(`in ${percent(boot.adjacent[at])} of ${boot.runs} runs, this way in ${percent(boot.this_way[at])}`);
  return known.map((part) => `, ${part}`).join("");
}

function change(values) {
  Object.assign(state, values);
  for (const listener of listeners) listener();
}

function choose(variable) {
  change({ chosen: variable === state.chosen ? null : variable });
  if (state.chosen !== null) find("graph").scrollIntoView({ block: "nearest" });
}

function neighbours(variable) {
  const found = { parents: [], children: [], undirected: [] };
  for (let at = 0; at < count; at++) {
    if (!isShown(at) || (edges.source[at] !== variable && edges.target[at] !== variable)) continue;
    const out = edges.source[at] === variable;
    const other = out ? edges.target[at] : edges.source[at];
    (edges.directed[at] ? (out ? found.children : found.parents) : found.undirected).push(other);
  }
  return found;
}
