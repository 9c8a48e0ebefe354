package restsource

import (
	"cmp"
	"errors"
	"math/big"
	"regexp"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/connector/internal/textvalue"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The errors of times. None quotes the value.
var (
	errAmbiguous = errors.New("a value that two of Layouts read differently")
	errLocal     = errors.New("a local time that its zone has twice or not at all, because clocks were set; use Convert")
)

// moment converts a date or a datetime by Layouts and Unix, and otherwise as ISO 8601, in
// Zone if a datetime has no offset. All spellings that fit must mean the same time.
func (c *Column) moment(r textvalue.Raw) (wire.Value, error) {
	var found []wire.Value
	var failed error
	try := func(v wire.Value, err error) {
		if !errors.Is(err, textvalue.ErrMisfit) {
			found, failed = append(found, v), errors.Join(failed, err)
		}
	}
	if c.Unix > 0 && (r.Kind == textvalue.Number || r.Kind == textvalue.Text) {
		try(epoch(r.Text, c.Unix))
	}
	if r.Kind == textvalue.Text {
		for _, layout := range c.Layouts {
			try(c.laidOut(layout, r.Text))
		}
	}
	if failed != nil {
		return wire.Null(), failed
	}
	if found == nil {
		if c.Zone != nil && c.Type == wire.TypeDatetime && r.Kind == textvalue.Text {
			if at, ok := textvalue.APIs.Instant(r.Text); ok && !strings.ContainsAny(r.Text[len(time.DateOnly):], "Zz+-") {
				return inZone(at.Time, c.Zone)
			}
		}
		return textvalue.APIs.Value(r, c.Type, textvalue.OwnWidth)
	}
	for _, v := range found {
		if v.String() != found[0].String() {
			return wire.Null(), errAmbiguous
		}
	}
	return found[0], nil
}

// longFraction finds what could be a fraction of a second, and its digits beyond nanoseconds.
var longFraction = regexp.MustCompile(`[.,]\d{9}(\d+)`)

// laidOut reads a text by a layout.
func (c *Column) laidOut(layout, text string) (wire.Value, error) {
	zone := cmp.Or(c.Zone, time.UTC)
	at, err := time.ParseInLocation(layout, text, zone)
	if err != nil {
		return wire.Null(), textvalue.ErrMisfit
	}
	if c.Type == wire.TypeDate {
		return wire.Date(at), nil
	}
	for _, m := range longFraction.FindAllStringSubmatchIndex(text, -1) {
		other := []byte(text)
		for i := m[2]; i < m[3]; i++ {
			other[i] ^= 1 // another digit
		}
		if read, err := time.ParseInLocation(layout, string(other), zone); err == nil && read.Equal(at) {
			return wire.Null(), textvalue.ErrInexact // package time cuts these digits
		}
	}
	if !zoned(layout) {
		shown, _ := time.Parse(layout, text)
		return inZone(shown, zone)
	}
	return wire.Datetime(at), nil
}

// inZone returns the datetime at which the clocks of a zone show a time. It fails if they
// show it twice or not at all.
func inZone(shown time.Time, zone *time.Location) (wire.Value, error) {
	at := time.Date(shown.Year(), shown.Month(), shown.Day(), shown.Hour(), shown.Minute(), shown.Second(), shown.Nanosecond(), zone)
	if at.Format(time.DateTime) != shown.Format(time.DateTime) {
		return wire.Null(), errLocal
	}
	for _, day := range []int{-1, 1} { // if the offset was another, the clocks were set meanwhile
		_, before := at.AddDate(0, 0, day).Zone()
		other := shown.Add(-time.Duration(before) * time.Second)
		if !other.Equal(at) && other.In(zone).Format(time.DateTime) == at.Format(time.DateTime) {
			return wire.Null(), errLocal
		}
	}
	return wire.Datetime(at), nil
}

// zoned reports whether texts of a layout say which zone they are in.
func zoned(layout string) bool {
	at := time.Date(2001, 1, 1, 12, 0, 0, 0, time.UTC)
	return at.Format(layout) != at.In(time.FixedZone("", 3600)).Add(-time.Hour).Format(layout)
}

// epoch returns the time that is so many units after 1970.
func epoch(text string, unit time.Duration) (wire.Value, error) {
	exact, err := textvalue.ParseNumber(text, wire.TypeDecimal)
	if err != nil {
		return wire.Null(), textvalue.ErrMisfit
	}
	n, _ := new(big.Rat).SetString(exact.String())
	if n.Mul(n, new(big.Rat).SetInt64(int64(unit))); !n.IsInt() {
		return wire.Null(), textvalue.ErrInexact
	}
	seconds, rest := new(big.Int).DivMod(n.Num(), big.NewInt(int64(time.Second)), new(big.Int))
	if !seconds.IsInt64() {
		return wire.Null(), textvalue.ErrRange
	}
	return wire.Datetime(time.Unix(seconds.Int64(), rest.Int64())), nil
}

// timeFaults checks Layouts, Zone and Unix.
func (c *Column) timeFaults(fault func(string, ...any)) {
	timed := len(c.Layouts) > 0 || c.Unix != 0 || c.Zone != nil
	if timed && (c.Type != wire.TypeDatetime && (c.Type != wire.TypeDate || c.Unix != 0) || c.Convert != nil) {
		fault("column %q: Layouts are for a datetime or a date, Unix is for a datetime, and Convert for itself", c.Name)
	}
	if c.Unix < 0 || c.Zone != nil && len(c.Layouts) == 0 {
		fault("column %q: Unix is a unit such as time.Second, and Zone is that of Layouts", c.Name)
	}
	for _, layout := range c.Layouts {
		switch {
		case strings.Contains(layout, "MST"):
			fault("column %q: the layout %q has the name of a zone, which several may have; use Convert", c.Name, layout)
		case c.Type == wire.TypeDatetime && c.Zone == nil && !zoned(layout):
			fault("column %q: the layout %q has no zone; state it by Zone, such as time.UTC", c.Name, layout)
		}
	}
}
