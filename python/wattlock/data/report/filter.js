"use strict";
// The table of cases: shown are those that hold every word, and whose state is the one asked for.
// AES-128 is aes128: case, hyphens and other marks don't count. A number is one of the cipher's or
// a size, and whole: 14 is not in 1400, and 1,500 is 1500 is 1.5 kB.
{
  const table = document.getElementById("case-table");
  const rows = [...table.tBodies[0].rows];
  const words = document.getElementById("filter");
  const state = document.getElementById("state");
  const shown = document.getElementById("shown");
  const UNITS_B = { b: 1, kb: 1e3, mb: 1e6, kib: 1024, mib: 1024 ** 2 };
  const NUMBER = /^\d+(\.\d+)?$/;

  const bare = (text) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  const ungrouped = (text) => text.replace(/(\d),(?=\d{3}(?!\d))/g, "$1");
  const numbersIn = (text) => (ungrouped(text).match(/\d+(?:\.\d+)?/g) ?? []).map(Number);
  const sizes = [...table.tHead.rows[0].cells].flatMap((head, column) => (/^(?!Flash|RAM|Stack).*, B$/.test(head.textContent) ? [column] : []));

  const texts = rows.map((row) => {
    const cells = [...row.cells];
    const words = cells.filter((cell) => !cell.classList.contains("n"));
    // A size stands in a column of its own, or among the words of what a case does.
    const among = words.flatMap((cell) => ungrouped(cell.textContent).match(/\d+ B(?![\p{L}\p{N}])/gu) ?? []);
    const sizes_B = [...sizes.map((column) => cells[column].textContent), ...among].flatMap(numbersIn);
    return {
      words: words.map((cell) => bare(cell.textContent)),
      numbers: new Set([...numbersIn(cells[0].textContent), ...sizes_B]),
      sizes_B: new Set(sizes_B),
    };
  });

  const asked = (typed) => {
    const conditions = [];
    const rest = ungrouped(typed.toLowerCase()).replace(/(?<![\p{L}\p{N}.-])(\d+(?:\.\d+)?)\s*([km]?i?b)(?![\p{L}\p{N}])/gu, (_, count, unit) => {
      const size_B = Math.round(Number(count) * UNITS_B[unit]);
      conditions.push((text) => text.sizes_B.has(size_B));
      return " ";
    });
    for (const word of rest.split(/\s+/).filter(Boolean)) {
      const whole = bare(word);
      if (NUMBER.test(word)) conditions.push((text) => text.numbers.has(Number(word)));
      else if (whole) conditions.push((text) => text.words.some((one) => one.includes(whole)));
    }
    return conditions;
  };

  const filter = () => {
    const conditions = asked(words.value);
    let count = 0;
    rows.forEach((row, index) => {
      const fits = (!state.value || row.dataset.state === state.value) && conditions.every((holds) => holds(texts[index]));
      row.hidden = !fits;
      count += fits;
    });
    const all = rows.length.toLocaleString("en");
    shown.textContent = count === rows.length ? `${all} cases` : `${count.toLocaleString("en")} of ${all} cases`;
  };
  words.addEventListener("input", filter);
  state.addEventListener("change", filter);
  words.form.addEventListener("submit", (event) => event.preventDefault());
  // A reload may have kept words.
  filter();
}
