// Open orders with a promised date, the earliest first.

import { h } from "../dom.js";
import { money, number } from "../format.js";
import { statusBadge } from "../parts/badge.js";
import { list } from "../parts/list.js";
import { buyer } from "../parts/order.js";
import { empty } from "../parts/page.js";
import { dayWord } from "../parts/work.js";
import { link } from "../router.js";

const DUE = [["", "Any day"], ["overdue", "Overdue"], ["today", "Today"], ["week", "Next 7 days"]];
// Its own day, else the earliest of the lines that are still to ship.
const dayOf = ({ dueOn, lineItems }) =>
  dueOn ?? lineItems.filter((line) => line.toShip > 0 && line.dueOn).map((line) => line.dueOn).sort()[0];

// What is still to ship: lines that have a day come first.
const listToShip = ({ lineItems }) => {
  const [first, ...more] = lineItems.filter(({ toShip }) => toShip > 0).sort((one, other) => Boolean(other.dueOn) - Boolean(one.dueOn));
  return first && [h.bdi(first.title), ` × ${number(first.toShip)}`, more.length > 0 && h.span({ class: "soft" }, ` and ${number(more.length)} more`)];
};

export async function show(visit) {
  await list(visit, {
    top: { title: "Promised dates", back: [link("/orders"), "Orders"] },
    api: "admin/orders/due",
    name: "order",
    cards: true,
    reads: "id,number,customer,status,dueOn,lineItems,total",
    filters: [{ name: "due", label: "Promised for", options: DUE }, { name: "from", type: "date", more: true }, { name: "to", type: "date", more: true }],
    columns: [
      { title: "Order", cell: ({ id, number }) => h.a({ class: "row", href: link(`/orders/${id}`) }, `#${number}`), class: "key under" },
      { title: "Promised for", cell: (order) => dayOf(order) && dayWord(dayOf(order)), class: "middle" },
      { title: "Customer", cell: ({ customer }) => buyer(customer), class: "first" },
      { title: "To ship", cell: listToShip, class: "wide" },
      { title: "Status", cell: ({ status }) => statusBadge(status), class: "last" },
      { title: "Total", cell: ({ total }) => money(total), class: "number money top" },
    ],
    none: empty("Nothing is due", "Open orders that have a day are listed here."),
  });
}
