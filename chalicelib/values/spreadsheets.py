"""What spreadsheets save for a formula that fails, for a column that is too narrow, and for a long
number.

Read as text, `#N/A` would be the SKU of several products: the import refuses it, and the export
marks it as text.
"""

import re
from typing import Final

# In the languages in which the import proposes columns.
ERROR: Final = (
    r"(?:#(?:N/[ABD]!?|NV|REF!|BEZUG!|¡REF!|RIF!|VERW!|ADR!|VALUE!|WERT!|VALEUR!|¡?VALOR!|VALORE!"
    r"|WAARDE!|ARG!|NAME\?|NOM\?|¿NOMBRE\?|NOME\?|NAAM\?|NAZWA\?|¡?DIV/0!|DEEL/0!|DZIEL/0!"
    r"|¡?NUM!|ZAHL!|NOMBRE!|GETAL!|LICZBA!|NULL!|NUL!|¡?NULO!|NULLO!|LEEG!|ZERO!|ERROR!|SPILL!"
    r"|CALC!|#{3,})|Err:5[0-9]{2})"
)
# A long number that has lost its digits, such as 4.00638E+12.
SPOILT: Final = r"[+-]?\d(?:[.,]\d+)?[eE]\+?\d{1,2}"
_ERROR: Final = re.compile(ERROR)


def is_error(text: str) -> bool:
    return _ERROR.fullmatch(text) is not None
