// The money of an order on record: what was paid, what is due, what went back.

import { button, h } from "../dom.js";
import { date, money, words } from "../format.js";
import { may } from "../session.js";
import { withDialogs } from "./dialogs.js";
import { mayClose } from "./order.js";
import { drawFigures } from "./record-page.js";

// `card(next)` draws the money, without the button of the step that the page offers as the next one.
export function moneyOf(visit, record) {
  const { data: order, path } = record;
  const due = Number(order.balanceDue);
  const isOpen = !order.closedAt && !["CANCELLED", "REFUNDED"].includes(order.status);
  const less = (one, other) => Number((Number(one) - Number(other)).toFixed(4));
  const net = less(order.amountPaid, order.amountRefunded);
  const { deposit } = order;
  const mayTake = may("STAFF") && isOpen && due > 0;
  const refundable = less(net, order.status === "CANCELLED" ? order.retained : 0);
  const mayGiveBack = may("STAFF") && refundable > 0 && !order.closedAt;
  const entry = (how) => ({ amount, method, receivedAt, createdAt }) =>
    [date(receivedAt ?? createdAt, true), `: ${money(amount)} ${how}, ${words(method).toLowerCase()}`];
  const received = [
    ...order.payments.filter(({ voidedAt }) => !voidedAt).map(entry("paid")),
    ...order.refunds.map(entry("refunded")),
  ];
  const open = (name) => (payment) => withDialogs((dialogs) => dialogs.paymentDialogs(visit, record)[name](payment));
  const [take, giveBack, keep] = ["take", "giveBack", "keep"].map(open);
  return {
    card: moneyCard,
    take,
    giveBack,
    close: open("close"),
    correct: open("correct"),
    undoPayment: open("undoPayment"),
    isVoidable,
    mayTake,
    mayGiveBack,
    mayClose: may("STAFF") && mayClose(order),
  };

  // What is still to be paid, large; then what was.
  function moneyCard(next) {
    const figure = (name, amount, is) => [name, money(String(amount).replace("-", "")), is];
    return drawFigures(
      "Payments",
      [
        due !== 0 && figure(due > 0 ? "Due" : "Owed to the customer", order.balanceDue, "big warn"),
        figure("Paid", order.amountPaid, due === 0 && "big good"),
        Number(order.amountRefunded) > 0 && figure("Refunded", order.amountRefunded),
        Number(order.retained) > 0 && figure("Kept of the deposit", order.retained),
        Number(order.kept) > 0 && !(Number(order.retained) > 0) && figure("Kept", order.kept),
        figure("Total", order.total),
      ],
      deposit &&
        h.div(
          { class: "small soft" },
          h.progress({
            max: deposit.amount,
            value: Math.min(Number(deposit.amount), Number(order.amountPaid)),
            "aria-label": "Deposit",
          }),
          `Deposit ${money(deposit.amount)}`,
          deposit.isReached ? " is paid." : due > 0 && " is not paid yet.",
        ),
      h.ul({ class: "paper" }, received.map((each) => h.li(each))),
      h.div(
        { class: "actions" },
        mayTake && next !== take && button("Take payment", visit.once(take)),
        may("STAFF") && net > 0 && order.status === "CANCELLED" && !order.closedAt && button("Keep a deposit", visit.once(keep)),
      ),
    );
  }

  // What was refunded, or is kept as a deposit, cannot be voided.
  function isVoidable({ id, amount, voidedAt }) {
    const isRefunded = order.refunds.some(({ paymentId }) => paymentId === id);
    return may("STAFF") && !voidedAt && !isRefunded && Number(amount) <= refundable;
  }
}
