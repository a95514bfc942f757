// The p-values of the local Markov property, as a histogram, and the statements that fit worst.
function showMarkov() {
  const markov = content.markov, body = find("markov-body");
  body.append(make("p", { text: "In a graph that fits, every variable is independent of all that does not descend from it, given its parents. Each such statement is tested here by Fisher’s z on the partial correlation." }));
  if (markov.reason) {
    body.append(make("p", { class: "hint", text: markov.reason }));
    return;
  }
  body.append(histogram(markov.counts));
  const share = ((100 * markov.below) / markov.tests).toFixed(1);
  body.append(make("p", { text: `${markov.tests} tests, of which ${markov.below} (${share} %) have p < 0.05; five per cent are expected by chance. After correction for their number (Benjamini–Hochberg at 5 %), ${markov.rejected} remain rejected.` }));
  const words = ["If all statements hold, the bars are level with the dashed line. A peak at the left means dependences that the graph does not explain: missing edges, hidden common causes, or effects that are not linear. The tests overlap, and the graph was chosen with the same data, which makes it look better than it would on new data."];
  if (markov.sampled) words.push("With so many variables, a sample of the statements was drawn at random, always the same.");
  if (markov.untested) words.push(`${counted(markov.untested, "statement")} could not be tested: too few rows for so many parents.`);
  body.append(make("p", { class: "hint", text: words.join(" ") }));
  const worst = markov.worst;
  body.append(make("h3", { text: "What fits worst" }), tableOf(["variable", "non-descendant", ["partial correlation given its parents", 1], ["p", 1]], worst.variable.map((variable, at) => [link(variable), link(worst.other[at]), figure(worst.partial[at]), figure(worst.p[at])])));
}

function histogram(counts) {
  const width = 640, height = 226, left = 46, bottom = 40, top = 12, inner = width - left - 10, tall = height - bottom - top;
  const total = counts.reduce((sum, part) => sum + part, 0), expected = total / counts.length, most = Math.max(...counts, expected) * 1.06;
  const level = (value) => top + tall * (1 - value / most), wide = inner / counts.length;
  const bars = counts.map((value, at) => draw("rect", { class: "bar", x: left + at * wide + 1, y: level(value), width: wide - 2, height: top + tall - level(value) }, [draw("title", { text: `${(at / counts.length).toFixed(2)} to ${((at + 1) / counts.length).toFixed(2)}: ${value}` })]));
  const labels = [0, 0.25, 0.5, 0.75, 1].map((value) => draw("text", { class: "axis-text", x: left + inner * value, y: height - 22, "text-anchor": "middle", text: value }));
  const highest = Math.max(...counts);
  return draw("svg", { class: "picture histogram", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Histogram of ${total} p-values; counts from 0 to 1: ${counts.join(", ")}` }, [
    ...bars, draw("line", { class: "expected", x1: left, x2: left + inner, y1: level(expected), y2: level(expected) }), draw("line", { class: "axis", x1: left, x2: left + inner, y1: top + tall, y2: top + tall }), ...labels,
    draw("text", { class: "axis-text", x: left + inner / 2, y: height - 5, "text-anchor": "middle", text: "p-value" }), draw("text", { class: "axis-text", x: left - 6, y: level(highest) + 8, "text-anchor": "end", text: highest }), draw("text", { class: "axis-text", x: left - 6, y: top + tall, "text-anchor": "end", text: 0 }),
  ]);
}
