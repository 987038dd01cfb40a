// Postal addresses: shown as on a parcel, entered, copied and printed.

import { h } from "../dom.js";
import { dialogForm } from "./dialog-form.js";
import { field } from "./form.js";

// ISO 3166-1, as the API has them; a test compares.
const CODES =
  "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ " +
  "BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM " +
  "DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS " +
  "GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN " +
  "KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ " +
  "MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM " +
  "PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV " +
  "SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI " +
  "VN VU WF WS YE YT ZA ZM ZW ";
const FIELDS = [
  ["firstName", "First name"],
  ["lastName", "Last name"],
  ["company", "Company"],
  ["phone", "Phone"],
  ["address1", "Street and number", true],
  ["address2", "Apartment, floor", true],
  ["postalCode", "Postal code"],
  ["city", "City"],
  ["province", "State or province"],
];
const named = new Intl.DisplayNames(undefined, { type: "region" });

const countries = () =>
  CODES.trim()
    .split(" ")
    .map((code) => [code, named.of(code)])
    .sort(([, one], [, other]) => one.localeCompare(other));

// The lines of a label.
export function linesOf(address) {
  const { firstName, lastName, company, address1, address2, postalCode, city, province } = address;
  const join = (...parts) => parts.filter(Boolean).join(" ");
  return [
    join(firstName, lastName),
    company,
    address1,
    address2,
    join(postalCode, city),
    province,
    named.of(address.countryCode),
  ].filter(Boolean);
}

export const shown = (address) =>
  h.address(
    linesOf(address).map((line) => h.div(h.bdi(line))),
    address.phone && h.div({ class: "soft" }, h.bdi(address.phone)),
  );

// `save(address)` throws the API's Refusal; its errors are shown next to their fields. The dialog
// stays open while it resolves to false.
export function editAddress(visit, { title, address, save }) {
  const was = address ?? {};
  dialogForm(visit, title, {
    broad: true,
    fields: [
      FIELDS.map(([name, label, wide]) =>
        field({ name, label, wide, value: was[name] }),
      ),
      field({
        name: "countryCode",
        label: "Country",
        value: was.countryCode ?? "",
        options: [["", "Choose a country"], ...countries()],
      }),
    ],
    submit: "Save address",
    async save(typed) {
      const entries = Object.entries(typed).map(([name, value]) => [name, value.trim() || null]);
      try {
        return await save({ ...(was.id && { id: was.id }), ...Object.fromEntries(entries) });
      } catch (refusal) {
        const own = ({ field: name, ...error }) => ({ ...error, field: name.split(".").at(-1) });
        if (refusal.errors) refusal.errors = refusal.errors.map(own);
        throw refusal;
      }
    },
  });
}
