#!/usr/bin/env python3
"""Writes orders.csv: one evening of a web shop, as the shop would export it.

    python3 examples/make_orders.py > examples/orders.csv

The same bytes on every run and every Python: all choices come from one seeded stream of
`random()`, the only method whose sequence Python keeps for all versions.
"""

from __future__ import annotations

import csv
import io
import math
import random
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

SEED = 20261120
ORDERS = 2400
OPENING = datetime(2026, 11, 20, 18, 0, 0, tzinfo=UTC)
EVENING = timedelta(hours=4)
WINDOW = timedelta(minutes=30)
# A message to all customers at 20:15 brings a crowd within two minutes.
CROWD_AT, CROWD, CROWD_WITHIN = timedelta(minutes=135), 120, timedelta(minutes=2)
# An order that was paid by a voucher. There is nothing to release, so each handler fails.
VOUCHER_ORDER = 600


class Country(NamedTuple):
    currency: str
    decimals: int
    typical: float  # a usual amount
    given: str
    family: str
    written: str  # how the shop's form writes a name there


# fmt: off
COUNTRIES = [
    Country("EUR", 2, 64, "Jürgen Käthe Zoë Søren-Max", "Müller Weiß Großmann Schäfer", "{f}, {g}"),
    Country("EUR", 2, 58, "Élodie François Noël", "Lefèvre D’Aubigné Œuvrard", "{g} {f}"),
    Country("EUR", 2, 47, "Núria Íñigo José Begoña", "Peña Ibáñez Güell Muñoz", "{f}, {g}"),
    Country("EUR", 2, 52, "Γιώργος Ελένη Χρήστος", "Παπαδόπουλος Κωνσταντίνου Αγγελής", "{g} {f}"),
    Country("EUR", 2, 49, "Seán Caoimhe Niamh", "Ó Briain|Ní Dhomhnaill|O’Connor", "{f}, {g}"),
    Country("GBP", 2, 45, "Olivia Harry Siân Rhys", "Smith-Jones Llewellyn O’Neill", "{g} {f}"),
    Country("USD", 2, 72, "Emily Michael Renée", "Johnson Nguyễn García Smith", "{g} {f}"),
    Country("PLN", 2, 210, "Łukasz Zofia Małgorzata", "Wójcik Żak Dąbrowski", "{f}, {g}"),
    Country("CZK", 2, 1290, "Tomáš Žaneta Ondřej", "Dvořák Růžičková Čech", "{g} {f}"),
    Country("HUF", 2, 18900, "Ágnes Győző Zsófia", "Kőszegi Szűcs Nagy", "{f} {g}"),
    Country("SEK", 2, 640, "Åsa Björn Linnéa", "Öberg Sjöström Ångström", "{g} {f}"),
    Country("TRY", 2, 1450, "Şule İbrahim Çağla", "Yıldız Öztürk Ağaoğlu", "{g} {f}"),
    Country("UAH", 2, 2100, "Оксана Тарас Їлона", "Шевченко Ґудзь Коваленко", "{f} {g}"),
    Country("ILS", 2, 230, "נועה יוסף", "כהן לוי", "{g} {f}"),
    Country("INR", 2, 3200, "अनन्या राजेश", "शर्मा पटेल", "{g} {f}"),
    Country("CNY", 2, 380, "秀英 伟", "王 李 張", "{f}{g}"),
    Country("JPY", 0, 7800, "さくら 健太 𠮷乃", "田中 髙橋 渡邊", "{f} {g}"),
    Country("KRW", 0, 68000, "서연 민준", "김 이 박", "{f}{g}"),
    Country("ISK", 0, 8900, "Þórunn Ægir", "Jónsdóttir Guðmundsson", "{g} {f}"),
    Country("KWD", 3, 19.5, "فاطمة أحمد", "الصباح العجمي", "{g} {f}"),
    Country("TND", 3, 145, "أمينة يوسف", "بن علي|الطرابلسي", "{g} {f}"),
]
# fmt: on


def pick(rng: random.Random, choices: Sequence[str]) -> str:
    return choices[int(rng.random() * len(choices))]


def names(text: str) -> list[str]:
    return text.split("|") if "|" in text else text.split()


def amount(rng: random.Random, country: Country) -> str:
    value = country.typical * (0.25 + 2.2 * rng.random() ** 2)
    return f"{value:.{country.decimals}f}"


def payment(rng: random.Random, created: datetime) -> datetime | None:
    """When the payment came: mostly within minutes, sometimes after the window, sometimes never."""
    fate, delay = rng.random(), rng.random()
    if fate < 0.16:
        return None
    if fate < 0.22:
        return created + WINDOW + timedelta(seconds=int(60 + delay * 2700))
    minutes = -6.0 * math.log(1.0 - delay)
    return created + timedelta(seconds=int(20 + minutes * 60) % int(WINDOW.total_seconds()))


def stamp(when: datetime | None) -> str:
    return when.strftime("%Y-%m-%dT%H:%M:%SZ") if when else ""


def orders() -> str:
    rng = random.Random(SEED)
    offsets = [rng.random() * EVENING for _ in range(ORDERS - CROWD)]
    offsets += [CROWD_AT + rng.random() * CROWD_WITHIN for _ in range(CROWD)]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["number", "customer", "amount", "currency", "created", "paid_at"])
    for index, offset in enumerate(sorted(offsets)):
        created = OPENING + timedelta(seconds=int(offset.total_seconds()))
        country = COUNTRIES[int(rng.random() * len(COUNTRIES))]
        customer = country.written.format(
            g=pick(rng, names(country.given)), f=pick(rng, names(country.family))
        )
        price, paid = amount(rng, country), payment(rng, created)
        if index == VOUCHER_ORDER:
            price, paid = f"{0:.{country.decimals}f}", None
        number = f"A-{100001 + index}"
        writer.writerow([number, customer, price, country.currency, stamp(created), stamp(paid)])
    return text.getvalue()


if __name__ == "__main__":
    sys.stdout.buffer.write(orders().encode())
