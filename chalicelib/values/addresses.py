"""Postal addresses: of customers, and of orders, which keep copies."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Final

from pydantic import AfterValidator, BeforeValidator, Field
from typing_extensions import TypedDict

from chalicelib.schemas import SEEN, Stripped, about, described_as, upper

# ISO 3166-1 alpha-2, as of 2024.
_CODES: Final = """
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS
BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE
EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM
HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC
LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA
NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW
SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO
TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
"""
COUNTRIES: Final = frozenset(_CODES.split())


def _check_country(value: str) -> str:
    if value not in COUNTRIES:
        raise ValueError("must be the code of a country in ISO 3166-1 alpha-2, such as DE")
    return value


Text = Annotated[str, SEEN, Field(max_length=100)]
Required = Annotated[str, SEEN, Field(min_length=1, max_length=100)]
Phone = Annotated[str, SEEN, Field(max_length=100, description="As it is written")]
Country = Annotated[
    str,
    BeforeValidator(upper),
    AfterValidator(_check_country),
    described_as("^[A-Z]{2}$"),
]


class Address(TypedDict):
    """Of an order whose customer was erased, only the country is left."""

    firstName: Annotated[str | None, about("Given name.")]
    lastName: Annotated[str | None, about("Family name.")]
    company: Annotated[str | None, about("Company.")]
    address1: Annotated[str | None, about("Street and number.")]
    address2: Annotated[str | None, about("Further details, such as a floor.")]
    city: Annotated[str | None, about("City.")]
    province: Annotated[str | None, about("State, province or region.")]
    postalCode: Annotated[str | None, about("Postal code.")]
    countryCode: Annotated[str, about("Country, ISO 3166-1 alpha-2.")]
    phone: Annotated[str | None, about("Phone number, as it is written.")]


class AddressInput(Stripped):
    """A postal address. A customer's address may be sent back as it was read."""

    shape: ClassVar[type] = Address

    read_only: ClassVar[frozenset[str]] = frozenset({"id"})

    first_name: Text | None = None
    last_name: Text | None = None
    company: Text | None = None
    address1: Required
    address2: Text | None = None
    city: Required
    province: Text | None = None
    postal_code: Annotated[str, Field(max_length=20)] | None = None
    country_code: Country
    phone: Phone | None = None


FIELDS: Final = tuple(Address.__annotations__)


def to_address(sent: Mapping[str, object]) -> dict[str, object]:
    """Return an AddressInput in the shape of Address; blank fields become null."""
    return {name: sent.get(name) or None for name in FIELDS}


def is_same_address(address: Mapping[str, object], other: Mapping[str, object]) -> bool:
    """Return whether both are the same place and person, but for case and blanks."""
    return all(_fold(address.get(name)) == _fold(other.get(name)) for name in FIELDS)


def _fold(value: object) -> str:
    return " ".join(str(value or "").casefold().split())


def forget_address(address: Mapping[str, object] | None) -> dict[str, object] | None:
    """Return what an erasure leaves of an address: the country."""
    if address is None:
        return None
    return {**dict.fromkeys(FIELDS), "countryCode": address["countryCode"]}
