for (const table of document.querySelectorAll("table.groups")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  const sort = column => {
    const up = heads[column].getAttribute("aria-sort") !== "ascending";
    const key = row => row.cells[column].dataset.value;
    heads.forEach(head => head.removeAttribute("aria-sort"));
    heads[column].setAttribute("aria-sort", up ? "ascending" : "descending");
    const rows = [...body.rows].sort((one, other) => {
      const a = key(one), b = key(other);
      if (a === "" || b === "") return (a === "") - (b === "");
      const order = isNaN(a) || isNaN(b) ? a.localeCompare(b) : a - b;
      return up ? order : -order;
    });
    body.append(...rows);
  };
  heads.forEach((head, column) => {
    head.setAttribute("role", "button");
    head.tabIndex = 0;
    head.title = "sort";
    head.onclick = () => sort(column);
    head.onkeydown = event => { if (event.key === "Enter") sort(column); };
  });
}
