package standin

import (
	"fmt"
	"time"

	"github.com/graph-gophers/graphql-go"
)

// shop is the root of the schema, over the data of one tenant.
type shop struct {
	customers []*customer
	orders    []*order
}

type customer struct {
	ID      graphql.ID
	Name    string
	Address *address
}

type address struct{ City string }

type order struct {
	ID        graphql.ID
	Status    string
	UpdatedAt string
	Customer  *customer
	cents     int
	lines     []*line
}

type line struct {
	Sku      string
	Quantity int32
}

type money struct{ Amount string }

type pageArgs struct {
	First int32
	After *string
}

type customerPage struct {
	Nodes    []*customer
	PageInfo pageInfo
}

type orderPage struct {
	Nodes    []*order
	PageInfo pageInfo
}

type linePage struct {
	Nodes    []*line
	PageInfo pageInfo
}

// Customers resolves a page of customers.
func (s *shop) Customers(a pageArgs) (p customerPage) {
	p.Nodes, p.PageInfo = pageOf(s.customers, a.First, a.After)
	return p
}

// Orders resolves a page of orders. Times are compared as texts, which are all in UTC.
func (s *shop) Orders(a struct {
	pageArgs
	Status, UpdatedSince *string
},
) (p orderPage) {
	var kept []*order
	for _, o := range s.orders {
		if (a.Status == nil || o.Status == *a.Status) && (a.UpdatedSince == nil || o.UpdatedAt >= *a.UpdatedSince) {
			kept = append(kept, o)
		}
	}
	p.Nodes, p.PageInfo = pageOf(kept, a.First, a.After)
	return p
}

// Total resolves the total of an order.
func (o *order) Total(a struct{ Currency string }) money {
	cents := o.cents
	if a.Currency == "USD" {
		cents = cents * 11 / 10
	}
	return money{fmt.Sprintf("%d.%02d", cents/100, cents%100)}
}

// Lines resolves the lines of an order.
func (o *order) Lines(a struct{ First int32 }) (p linePage) {
	p.Nodes, p.PageInfo = pageOf(o.lines, a.First, nil)
	return p
}

// seed returns the data of the n-th tenant: 40 customers and 230 orders, fewer for the
// second.
func seed(n int) *shop {
	s := &shop{}
	cities := []string{"Oslo", "Lima", "Zürich", ""}
	for i := range 40 - 10*n {
		c := &customer{ID: graphql.ID(fmt.Sprintf("C%d-%02d", n, i+1)), Name: fmt.Sprintf("Customer %d", i+1)}
		if city := cities[i%len(cities)]; city != "" {
			c.Address = &address{city}
		}
		s.customers = append(s.customers, c)
	}
	begin := time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)
	for i := range 230 - 100*n {
		o := &order{
			ID: graphql.ID(fmt.Sprintf("O%d-%03d", n, i+1)), Status: []string{"OPEN", "PAID", "SHIPPED"}[i%3],
			UpdatedAt: begin.Add(time.Duration(i*i%977) * time.Hour).Format(time.RFC3339),
			Customer:  s.customers[i*7%len(s.customers)], cents: i*1999%100_000 + 5,
		}
		for k := range i % 4 {
			o.lines = append(o.lines, &line{fmt.Sprintf("SKU-%d", (i+k)%17), int32(k + 1)})
		}
		s.orders = append(s.orders, o)
	}
	return s
}
