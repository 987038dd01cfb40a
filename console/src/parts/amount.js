// Amounts as people type them.

import { DECIMALS } from "../facts.js";

const HAS_COMMA = new Intl.NumberFormat().format(1.5).includes(",");
const HAS_DOTS = new Intl.NumberFormat().format(1e6).includes(".") && DECIMALS < 3;

// A number as people type it, for the API: 12,50 and 1.234,50 and 10 %. Other text is sent unchanged,
// and refused there. A comma before three digits is a decimal one only where the language has it; a dot before three
// digits groups thousands where the language has that, unless amounts have three decimals.
export function decimal(text) {
  const plain = text.trim().replace(/\s*%$/, "");
  if (HAS_DOTS && /^[+-]?[1-9]\d{0,2}(\.\d{3})+$/.test(plain)) return plain.replaceAll(".", "");
  const [, whole, part] = /^([+-]?[\d.\s]*\d),(\d+)$/.exec(plain) ?? [];
  if (part === undefined || (part.length === 3 && !HAS_COMMA)) return plain;
  return `${whole.replaceAll(/[.\s]/g, "")}.${part}`;
}

// An amount as the API answers it: 12.50 for 12,5. So what is sent again after a lost answer is the same, and what is stored is
// what was sent. Other text is sent unchanged.
export function amountOf(text) {
  const plain = decimal(text);
  const [, whole, part = ""] = /^0*(\d+)\.?(\d*?)0*$/.exec(plain) ?? [];
  if (whole === undefined || part.length > DECIMALS) return plain;
  return DECIMALS > 0 ? `${whole}.${part.padEnd(DECIMALS, "0")}` : whole;
}
