package faulttest

// shop generates an online shop.
func shop(b *builder) {
	customers, orders := b.of("customers", "buyers", "clients"), b.of("orders", "purchases", "sales")
	products := b.of("products", "articles", "items")
	b.table(customers, b.between(60, 100),
		b.key(b.of("id", "customer_no")),
		b.code(b.of("login", "handle"), "U"),
		b.words(b.of("name", "full_name")),
		b.label(b.of("segment", "tier"), "gold", "silver", "basic"),
		b.sparse(4, b.day(b.of("birthday", "born"))),
		b.sparse(5, b.money(b.of("credit", "balance"), 2, 90_000)),
		b.sparse(3, b.words("note")),
	)
	b.table(products, b.between(60, 110),
		b.key("id"),
		b.code(b.of("sku", "article_code"), "P"),
		b.words("title"),
		b.money(b.of("price", "list_price"), 2, 50_000),
		b.sparse(4, b.money("weight", 3, 9_000)),
		b.sparse(6, b.tags(b.of("tags", "keywords"), "new", "sale", "eco", "Sale")),
		b.flag(b.of("active", "listed")),
		b.sparse(5, b.extra("attributes")),
	)
	b.table(orders, b.between(110, 170),
		b.key(b.of("id", "order_no")),
		b.big("barcode"),
		b.sparse(8, b.link(b.of("customer_id", "buyer"), customers)),
		b.label(b.of("status", "state"), "paid", "open", "shipped", "cancelled"),
		b.moment(b.of("placed_at", "created")),
		b.money(b.of("total", "amount"), 2, 120_000),
		b.sparse(7, b.flag("gift")),
		b.sparse(4, b.day("shipped_on")),
	)
	b.table(b.of("lines", "positions"), b.between(130, 220),
		b.key("id"),
		b.link("order_id", orders),
		b.loose("product_id", products),
		b.tally(b.of("quantity", "pieces"), 1, 12),
		b.sparse(5, b.tally("discount", -5, 30)),
		b.money("unit_price", 4, 9_000_000),
	)
}

// clinic generates a hospital with appointments.
func clinic(b *builder) {
	patients, doctors := b.of("patients", "Patient"), b.of("doctors", "physicians")
	b.table(doctors, b.between(60, 90),
		b.key("id"),
		b.words(b.of("Surname", "last name")),
		b.label(b.of("department", "ward"), "surgery", "cardiology", "ent"),
		b.sparse(5, b.ratio("workload")),
		b.sparse(6, b.flag("on_call")),
	)
	b.table(patients, b.between(101, 140),
		b.key(b.of("patientId", "pid")),
		b.code(b.of("insurance", "policyNumber"), "KV"),
		b.sparse(9, b.words("name")),
		b.day(b.of("dateOfBirth", "dob")),
		b.sparse(3, b.label("bloodType", "a+", "b-", "ab+", "o")),
		b.sparse(4, b.tags("allergies", "nuts", "latex", "penicillin", "Nuts")),
	)
	b.table(b.of("appointments", "visits"), b.between(120, 170),
		b.key("id"),
		b.link(b.of("patient", "patientRef"), patients),
		b.sparse(5, b.link(b.of("doctor", "seenBy"), doctors)),
		b.moment(b.of("starts", "begin_at")),
		b.sparse(4, b.moment(b.of("ended", "end_at"))),
		b.label("status", "booked", "done", "missed"),
		b.sparse(3, b.words("remarks")),
		b.sparse(6, b.tally("room", 1, 40)),
	)
	b.table(b.of("invoices", "bills"), b.between(105, 150),
		b.key("id"),
		b.big("reference"),
		b.sparse(6, b.loose("patient", patients)),
		b.money(b.of("net", "sum"), 2, 400_000),
		b.sparse(4, b.money("vat", 2, 40_000)),
		b.day("issued"),
		b.sparse(3, b.moment("paid_at")),
	)
}

// freight generates a haulier whose lorries report where they are.
func freight(b *builder) {
	depots, trucks := b.of("depots", "hubs"), b.of("trucks", "vehicles")
	b.table(depots, b.between(60, 80),
		b.key("id"),
		b.code("code", b.of("HUB", "DEP")),
		b.words(b.of("city", "place")),
		b.label("zone", "north", "south", "east"),
		b.sparse(5, b.extra("contact")),
	)
	b.table(trucks, b.between(60, 100),
		b.key("id"),
		b.code(b.of("plate", "registration"), "B"),
		b.sparse(6, b.link(b.of("home", "depot_id"), depots)),
		b.ratio(b.of("capacity", "max_load")),
		b.day(b.of("inspected", "checked_on")),
		b.flag("electric"),
	)
	b.table(b.of("shipments", "loads"), b.between(110, 170),
		b.key("id"),
		b.big(b.of("tracking", "waybill")),
		b.link("truck", trucks),
		b.sparse(5, b.loose("destination", depots)),
		b.label(b.of("status", "phase"), "loaded", "moving", "delivered", "lost"),
		b.sparse(4, b.moment(b.of("delivered_at", "arrival"))),
		b.sparse(7, b.money(b.of("fee", "charge"), 2, 99_999)),
		b.sparse(3, b.words("instructions")),
		b.tags("hazards", "1.1", "3", "8", "none"),
	)
	b.table(b.of("readings", "telemetry"), b.between(300, 600),
		b.key("id"),
		b.link("truck", trucks),
		b.moment(b.of("at", "measured")),
		b.sparse(9, b.reading(b.of("temperature", "celsius"))),
		b.tally("speed", -3, 95),
		b.label("sensor", "engine", "cargo", "door"),
	)
}

// staff generates the personnel department of a firm.
func staff(b *builder) {
	teams, people := b.of("teams", "Abteilungen"), b.of("people", "Mitarbeiter", "employees")
	b.table(teams, b.between(60, 70),
		b.key("id"),
		b.words(b.of("title", "Bezeichnung")),
		b.sparse(4, b.money("budget", 2, 90_000_000)),
		b.sparse(5, b.label("site", "berlin", "łódź", "são paulo")),
	)
	b.table(people, b.between(101, 140),
		b.key(b.of("id", "personnel no")),
		b.code(b.of("badge", "Ausweis"), "M"),
		b.words(b.of("name", "Name")),
		b.link(b.of("team", "Abteilung"), teams),
		b.sparse(7, b.label("grade", "junior", "senior", "lead")),
		b.sparse(5, b.day(b.of("joined", "Eintritt"))),
		b.sparse(6, b.moment(b.of("last_login", "Anmeldung"))),
		b.sparse(4, b.big("tax_id")),
		b.sparse(5, b.flag("remote")),
		b.sparse(5, b.tags("skills", "go", "sql", "Go", "7")),
	)
	b.table(b.of("contracts", "Verträge"), b.between(105, 150),
		b.key("id"),
		b.link("person", people),
		b.sparse(4, b.loose("approved_by", people)),
		b.money(b.of("salary", "Gehalt"), 2, 900_000),
		b.sparse(4, b.money("bonus", 4, 9_000_000)),
		b.ratio(b.of("hours", "Stunden")),
		b.day(b.of("from", "von")),
		b.sparse(3, b.day(b.of("to", "bis"))),
	)
	b.table(b.of("absences", "Fehlzeiten"), b.between(110, 170),
		b.key("id"),
		b.sparse(9, b.link("person", people)),
		b.label(b.of("kind", "Art"), "holiday", "sick", "training"),
		b.sparse(5, b.moment("reported")),
		b.tally("days", -2, 25),
		b.sparse(3, b.words("comment")),
	)
}
