// The head of the page, and the part on how to repeat the run.
function showHeader() {
  const run = content.run;
  const unknown = run.tests !== null && run.input === "data" ? "tests of your own" : "exact input";
  const rows = run.n === null ? unknown : counted(run.n, "row");
  find("lead").textContent = `${counted(run.p, "variable")}, ${rows}: ${counted(content.edges_in_all, "edge")}, ${content.undirected_in_all} of which could point either way.`;
  const seconds = Object.values(run.timings).reduce((sum, part) => sum + part, 0);
  const facts = [
    ["Rows", run.n === null ? (unknown === "exact input" ? "exact" : "not known") : run.n], ["Variables", run.p], ["Edges", content.edges_in_all],
    ["Method", run.settings.method], ["Seed", run.seed === null ? "none (ties by column)" : run.seed],
    [run.score === null ? "BIC" : `BIC, ${run.edge_price} per edge`, run.score === null ? "–" : run.score.toFixed(1).replace("-", "−")], ...(run.optimality === null ? [] : [["Score", run.optimality, "small"]]), ...(run.tests === null ? [] : [["Tests", run.tests]]), ["Time", `${seconds.toFixed(2)} s`],
    ...(boot === null ? [] : [["Bootstrap", `${counted(boot.runs, "run")}, ${boot.drawn}`, "small"]]),
    ...(run.estimator === null ? [] : [["Partial correlations", run.estimator, "small"]]),
    ["Versions", Object.entries(run.versions).map(([name, version]) => `${name} ${version}`).join(", "), "small"],
    ["Written", run.written, "small"],
    [run.hash ? `SHA-256 of ${run.hash.of}` : "Hash", run.hash ? run.hash.sha256 : "not known: neither data nor moments are available", "small wide"],
  ];
  find("facts").append(...facts.map(([name, value, style]) => make("div", { class: style }, [make("dt", { text: name }), make("dd", { text: value })])));
  const remarks = [...(content.close_calls === null ? [] : [`Close calls: ${content.close_calls}.`]), ...(content.advice === null ? [] : [content.advice])];
  find("remarks").append(...remarks.map((remark) => make("li", { class: "unknown", text: remark })));
  find("warnings").append(...run.warnings.map((warning) => make("li", { class: "warning", text: warning })));
}

function showRun() {
  const run = content.run;
  const settings = Object.entries(run.settings).map(([name, value]) => [name, value === null ? "none" : Array.isArray(value) ? value.join(", ") : String(value), run.changed.includes(name) ? "chosen" : "default"]);
  const timings = Object.entries(run.timings).map(([name, seconds]) => [name, `${seconds.toFixed(3)} s`]);
  const body = find("run-body");
  body.append(make("h3", { text: "In Python" }), make("pre", { text: run.python }));
  if (run.command !== null) body.append(make("h3", { text: "On the command line, in a POSIX shell" }), make("pre", { text: run.command }));
  body.append(...run.notes.map((note) => make("p", { class: "hint", text: note })));
  body.append(make("p", { class: "hint", text: "The same data and settings give the same answer on any number of threads; a time limit is the exception." }));
  body.append(make("h3", { text: "Settings" }), tableOf(["option", "value", ""], settings));
  if (run.path.length) {
    body.append(make("h3", { text: "Penalties compared" }), tableOf([["penalty", 1], ["edges", 1], ["extended BIC", 1], ""], run.path.map(([penalty, size, score, chosen]) => [figure(penalty), figure(size), score.toFixed(1), chosen ? "chosen" : ""])));
  }
  body.append(make("h3", { text: "Time" }), tableOf(["part", ["time", 1]], timings));
}

function showKnowledge() {
  const body = find("knowledge-body");
  if (content.knowledge === null) {
    body.append(make("p", { class: "hint", text: "No prior knowledge was given; order and directions come from the data alone." }));
    return;
  }
  body.append(make("p", { text: `Of the prior knowledge, ${content.knowledge.summary}.` }));
  body.append(tableOf(["constraint", "holds", "evidence"], content.knowledge.constraints.map((constraint) => [make("span", { class: "name", text: shown(constraint.asked) }), constraint.holds ? "✓ yes" : "✗ no", make("span", { class: "name", text: shown(constraint.shown) })])));
}

function showTruth() {
  const body = find("truth-body");
  const truth = content.truth;
  if (truth === null) {
    body.append(make("p", { class: "hint", text: "No true graph was given to compare with." }));
    return;
  }
  body.append(make("p", { text: `${content.verdicts.map((verdict) => `${truth.counts[verdict]} ${verdict}`).join(", ")} (equivalence classes compared; an edge counts as ${REVERSED} where both have it, with different directions).` }));
  body.append(tableOf(["score", ["value", 1], "meaning"], truth.scores.map(([name, value, meaning]) => [name, figure(value), meaning])));
  if (!truth.verdicts.length) return;
  body.append(make("h3", { text: "What differs" }));
  const listed = truth.verdicts.slice(0, 1000);
  body.append(tableOf(["pair", "", "in the truth", "found", "verdict"], listed.map(([first, second, verdict, expected, got]) => [link(first), link(second), expected || "not adjacent", got || "not adjacent", verdict])));
  if (listed.length < truth.verdicts.length) body.append(make("p", { class: "hint", text: `The first ${listed.length} are listed.` }));
}
