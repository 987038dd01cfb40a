// The API's facts, which the page carries as JSON (`facts.py`).

export const {
  CURRENCY,
  DECIMALS,
  DELIVERY_STATUSES,
  ENDED_JOBS,
  EVENT_KINDS,
  FIELDS,
  FORMATS,
  LARGEST_FORM,
  LONGEST_OVERLAP,
  MOST_LOW,
  MOST_LOW_OF_ONE,
  MOVES,
  PAYMENTS,
  PAYMENT_MOVES,
  PRODUCT_STATUSES,
  RECEIVER_SECONDS,
  ROLES,
  TIMEZONE,
  UNDOABLE,
  UNDO_DAYS,
} = JSON.parse(document.getElementById("facts").textContent);
