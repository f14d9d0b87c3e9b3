"""The applications among the examples, as sources of mutants: each tool with the functions that its conditions call.

A tool is a module of its own with all that its conditions and lookups call, so that these can be changed as well; what only its
body calls stays outside. A body without a promise about its result is left as it is, because nothing can notice a change of it.
"""

import json
import re

# Inputs that chance does not meet, because rows must be there: kept beside the boundaries, as an author would keep them.
BEN = {"first_name": "Ben", "last_name": "Hill", "dob": "1980-01-02"}


def booking(**change):
    return {
        "user_id": "ben_hill_2", "origin": "BOS", "destination": "ORD", "flight_type": "one_way", "cabin": "economy",
        "flights": [{"flight_number": "SMP004", "date": "2024-05-21"}], "passengers": [BEN],
        "payment_methods": paid(credit_card_2=150), "total_baggages": 2, "nonfree_baggages": 0, "insurance": "no",
    } | change


def paid(**methods):
    return [{"payment_id": name, "amount": amount} for name, amount in methods.items()]


def change(reservation, cabin, payment, *flights):
    flights = [{"flight_number": number, "date": f"2024-05-{day}"} for number, day in flights]
    return {"reservation_id": reservation, "cabin": cabin, "flights": flights, "payment_id": payment}


def bags(reservation, total, charged, payment):
    return {"reservation_id": reservation, "total_baggages": total, "nonfree_baggages": charged, "payment_id": payment}


def cleo(**change):
    return booking(user_id="cleo_park_3") | change


def ada(**change):
    return booking(user_id="ada_stone_1") | change


KEPT = {
    "Bank": {
        "transfer": [{"from": "ben", "to": "ada", "cents": cents} for cents in (12_000, 12_001)]
            + [{"from": "ada", "to": "ben", "cents": cents} for cents in (40_000, 40_001)],
        "close": [{"account": account} for account in ("cleo", "ben", "ada")],
    },
    "book_reservation": [
        booking(),
        booking(total_baggages=3),
        booking(total_baggages=3, nonfree_baggages=1, payment_methods=paid(credit_card_2=200)),
        booking(total_baggages=1),
        booking(nonfree_baggages=1, payment_methods=paid(credit_card_2=200)),
        booking(insurance="yes", payment_methods=paid(credit_card_2=180)),
        booking(passengers=[], payment_methods=[], total_baggages=0),
        booking(passengers=[BEN] * 5, payment_methods=paid(credit_card_2=750), total_baggages=10),
        booking(passengers=[BEN] * 6, payment_methods=paid(credit_card_2=900), total_baggages=12),
        booking(passengers=[BEN] * 2, payment_methods=paid(credit_card_2=360), total_baggages=4, insurance="yes"),
        booking(payment_methods=paid(certificate_2=100, credit_card_2=50)),
        booking(payment_methods=paid(certificate_2=100, certificate_3=50)),
        booking(payment_methods=paid(gift_card_2=150)),
        booking(payment_methods=paid(gift_card_2=500), flights=[{"flight_number": "SMP004", "date": f"2024-05-{day}"} for day in (20, 21, 22)]
            + [], total_baggages=2) | {"payment_methods": paid(gift_card_2=450)},
        booking(payment_methods=paid(credit_card_2=75) + paid(credit_card_2=75)),
        booking(payment_methods=paid(gift_card_2=50) * 3),
        booking(payment_methods=paid(gift_card_2=30) * 4 + paid(credit_card_2=30)),
        booking(payment_methods=paid(credit_card_1=150)),
        booking(payment_methods=paid(credit_card_2=149)),
        booking(payment_methods=paid(credit_card_2=151)),
        booking(payment_methods=paid(certificate_3=51, credit_card_2=99)),
        booking(payment_methods=paid(certificate_3=50, credit_card_2=100)),
        booking(cabin="business", total_baggages=3, payment_methods=paid(credit_card_2=400)),
        booking(cabin="business", total_baggages=4, payment_methods=paid(credit_card_2=400)),
        booking(cabin="basic_economy", total_baggages=1, payment_methods=paid(credit_card_2=90)),
        booking(cabin="basic_economy", total_baggages=2, payment_methods=paid(credit_card_2=90)),
        booking(cabin="business", flights=[{"flight_number": "SMP003", "date": "2024-05-22"}], payment_methods=paid(credit_card_2=350)),
        booking(flights=[{"flight_number": "SMP004", "date": "2024-05-21"}, {"flight_number": "SMP005", "date": "2024-05-22"}],
            payment_methods=paid(credit_card_2=305)),
        ada(total_baggages=1, payment_methods=paid(credit_card_1=150)),
        ada(total_baggages=2, payment_methods=paid(credit_card_1=150)),
        ada(total_baggages=0, cabin="basic_economy", payment_methods=paid(gift_card_1=90)),
        ada(total_baggages=1, cabin="basic_economy", payment_methods=paid(gift_card_1=90)),
        ada(total_baggages=2, cabin="business", payment_methods=paid(credit_card_1=400)),
        ada(total_baggages=3, cabin="business", payment_methods=paid(credit_card_1=400)),
        cleo(total_baggages=4, cabin="business", payment_methods=paid(credit_card_4=400)),
        cleo(total_baggages=5, cabin="business", payment_methods=paid(credit_card_4=400)),
        cleo(total_baggages=3, payment_methods=paid(credit_card_4=150)),
        cleo(total_baggages=4, payment_methods=paid(credit_card_4=150)),
        cleo(total_baggages=2, cabin="basic_economy", payment_methods=paid(credit_card_4=90)),
        cleo(total_baggages=3, cabin="basic_economy", payment_methods=paid(credit_card_4=90)),
    ],
    "update_reservation_flights": [
        change("SAMPA1", "economy", "credit_card_1", ("SMP004", 20)),
        change("SAMPA1", "economy", "credit_card_1", ("SMP004", 21)),
        change("SAMPA1", "business", "credit_card_1", ("SMP004", 21)),
        change("SAMPA1", "business", "gift_card_1", ("SMP004", 20)),
        change("SAMPA1", "economy", "gift_card_1", ("SMP004", 20)),
        change("SAMPA1", "economy", "certificate_1", ("SMP004", 20)),
        change("SAMPA1", "basic_economy", "certificate_1", ("SMP004", 20)),
        change("SAMPA1", "economy", "credit_card_1", ("SMP001", 20)),
        change("SAMPA1", "economy", "credit_card_1", ("SMP001", 20), ("SMP003", 20)),
        change("SAMPA1", "economy", "credit_card_1", ("SMP003", 20), ("SMP004", 20)),
        change("SAMPA1", "economy", "credit_card_1", ("SMP004", 20), ("SMP005", 21)),
        change("SAMPA1", "economy", "credit_card_1", ("SMP004", 20), ("SMP004", 21)),
        change("SAMPA1", "economy", "nobody", ("SMP004", 20)),
        change("SAMPA2", "basic_economy", "credit_card_1", ("SMP001", 20)),
        change("SAMPA2", "basic_economy", "credit_card_1", ("SMP001", 21)),
        change("SAMPA2", "economy", "credit_card_1", ("SMP001", 20)),
        change("SAMPA2", "economy", "credit_card_1", ("SMP001", 21)),
        change("SAMPA2", "business", "gift_card_1", ("SMP001", 20)),
        change("SAMPA3", "business", "credit_card_1", ("SMP004", 14)),
        change("SAMPA3", "economy", "credit_card_1", ("SMP004", 20)),
        change("SAMPB1", "business", "credit_card_2", ("SMP004", 20), ("SMP005", 22)),
        change("SAMPB1", "economy", "credit_card_2", ("SMP004", 20), ("SMP005", 22)),
        change("SAMPB1", "business", "gift_card_2", ("SMP004", 21), ("SMP005", 22)),
        change("SAMPB1", "business", "credit_card_2", ("SMP004", 20)),
        change("SAMPB1", "business", "credit_card_2", ("SMP001", 20), ("SMP002", 22)),
    ],
    "update_reservation_baggages": [
        bags("SAMPA1", 1, 0, "credit_card_1"), bags("SAMPA1", 0, 0, "credit_card_1"), bags("SAMPA1", 2, 0, "credit_card_1"),
        bags("SAMPA1", 2, 1, "credit_card_1"), bags("SAMPA1", 1, 1, "credit_card_1"),
        bags("SAMPA1", 5, 4, "gift_card_1"), bags("SAMPA1", 6, 5, "gift_card_1"), bags("SAMPA1", 2, 1, "certificate_1"),
        bags("SAMPA1", 2, 1, "nobody"), bags("SAMPA2", 0, 0, "credit_card_1"), bags("SAMPA2", 1, 1, "credit_card_1"),
        bags("SAMPA2", 1, 0, "credit_card_1"), bags("SAMPA3", 2, 0, "credit_card_1"), bags("SAMPA3", 3, 0, "credit_card_1"),
        bags("SAMPB1", 4, 0, "gift_card_2"), bags("SAMPB1", 3, 0, "gift_card_2"), bags("SAMPB1", 6, 0, "gift_card_2"),
        bags("SAMPB1", 7, 0, "gift_card_2"), bags("SAMPB1", 7, 1, "gift_card_2"), bags("SAMPB1", 16, 10, "gift_card_2"),
        bags("SAMPB1", 17, 11, "gift_card_2"), bags("SAMPB2", 2, 0, "gift_card_2"), bags("SAMPB2", 3, 0, "gift_card_2"),
        bags("SAMPC1", 3, 0, "credit_card_4"), bags("SAMPC1", 4, 0, "credit_card_4"), bags("SAMPC1", 4, 1, "credit_card_4"),
    ],
    "update_reservation_passengers": [
        {"reservation_id": "SAMPA1", "passengers": [BEN]}, {"reservation_id": "SAMPA1", "passengers": []},
        {"reservation_id": "SAMPA1", "passengers": [BEN] * 2}, {"reservation_id": "SAMPB1", "passengers": [BEN] * 2},
    ],
    "cancel_reservation": [{"reservation_id": f"SAMP{id}"} for id in ("A1", "A2", "A3", "B1", "B2", "C1")],
    "send_certificate": [
        {"user_id": user, "amount": amount}
        for user in ("ada_stone_1", "ben_hill_2", "cleo_park_3") for amount in (0, 50, 51, 99, 100, 101, 150, 200)
    ],
    "get_user_details": [{"user_id": "ben_hill_2"}],
    "get_reservation_details": [{"reservation_id": "SAMPA1"}],
    "get_flight_status": [{"flight_number": "SMP001", "date": "2024-05-20"}],
    "search_direct_flight": [{"origin": "BOS", "destination": "JFK", "date": "2024-05-20"}],
    "search_onestop_flight": [{"origin": "BOS", "destination": "ORD", "date": "2024-05-20"}],
    "count_lines": [{"extension": "a"}, {"extension": "a", "folder": "aa"}, {"extension": "x"}],
    "list_folder": [{"folder": "aa"}],
    "ask_user": [
        {"questions": [{"id": "a", "text": "b", "type": kind, "options": options}]}
        for kind in ("radio", "checkbox", "text") for options in ([], ["a"], ["a", "b"], ["a", "a"], ["a", "b", "a"])
    ] + [
        {"questions": [{"id": id, "text": "b", "type": "text", "options": []} for id in ids]}
        for ids in ("ab", "aa", "ba", "aba", "abcdefgh", "abcdefghi")
    ] + [
        {"questions": [{"id": "a", "text": "a", "type": "text"}, {"id": "b", "text": " ", "type": "text"}]},
    ] + [
        {"questions": [{"id": id, "text": text, "type": "text"}]} for id, text in ((" ", "a"), ("a", " "), ("a", ""), ("", "a"))
    ],
}


def top_level(text):
    """The items of a file by name: functions, types with what is implemented for them, and constants."""
    items = {}
    pattern = r"(?:^(?:///.*|#\[.*(?:\n(?:    .*|\)\]))*)\n)*^(?:pub(?:\(\w+\))? )?(?:async )?(?:(?:fn|struct|enum|type|const) (\w+)|impl (\w+)).*(?:\n(?!\}|[a-z/#]).*)*(?:\n\}.*)?\n"
    for found in re.finditer(pattern, text, re.M):
        name = found.group(1) or found.group(2)
        items[name] = items.get(name, "") + found.group() + "\n"
    return items


def closure(begins, texts):
    """All items of these texts that are named, directly or by one that is."""
    known = {}
    for text in texts:
        known |= top_level(text)
    named, found = re.findall(r"\w+", begins), {}
    while named:
        name = named.pop()
        if name in known and name not in found:
            found[name] = known[name]
            named += re.findall(r"\w+", re.sub(r"//.*", "", known[name]))
    return "".join(found.values())


def methods(text):
    """The tools of the file's `impl` block, each with its comment."""
    block = text[re.search(r"^#\[tool\]\nimpl .*\n", text, re.M).end() :]
    block = block[: block.index("\n}\n")] + "\n"
    for found in re.finditer(r"(?:^    ///.*\n)+(?:(?!^    ///).*\n|^    /// .*\n)*?^    \}\n", block, re.M):
        yield re.search(r"^    (?:async )?fn (\w+)", found.group(), re.M).group(1), found.group()


def attributes(item):
    """What is said above a function."""
    return item[: re.search(r"^ *(?:pub(?:\(\w+\))? )?(?:async )?fn ", item, re.M).start()]


def without_promise(text):
    """The tools that promise nothing about their results."""
    names, above = set(), []
    for line in text.split("\n"):
        found = re.match(r" *(?:pub )?(?:async )?fn (\w+)", line)
        above.append(line)
        if found and any(re.match(r" *#\[tool\b", one) for one in above):
            if not any(re.match(r" *#\[post\b", one) for one in above):
                names.add(found.group(1))
        if found or line.startswith(("impl", "}", "    }")):
            above = []
    return names
