package exam

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// numberMisreadings compare numbers otherwise than by their digits.
var numberMisreadings = []misreading{
	taking("numbers were compared as texts", func(f wire.Filter, t wire.Type) (wire.Filter, wire.Type, bool) {
		return f, wire.TypeString, t.Numeric()
	}),
	numerically("numbers were floats", func(x float64) float64 { return x }),
	numerically("numbers were rounded to integers", math.Round),
	numerically("numbers had two digits after the dot", func(x float64) float64 { return math.Round(x*100) / 100 }),
	rounded("the operand were rounded down to an integer", math.Floor),
	rounded("the operand were rounded to an integer", math.Round),
	changing("an operand that is no number were 0", false, onTexts(func(text string) string {
		if text == "" || terms.IsDecimal(text) {
			return text
		}
		return "0"
	}), aboutNumbers),
	matching("all numbers were other than an operand that is none", func(f wire.Filter, t wire.Type) bool {
		return f.Op == wire.OpNeq && t.Numeric() && f.Value.String() != "" && !terms.IsDecimal(f.Value.String())
	}, func(wire.Filter, wire.Type) matcher { return func(v wire.Value) bool { return !v.IsNull() } }),
}

// asFloat returns a text that a language may read as a number as that number's digits.
func asFloat(text string) string {
	trimmed := strings.TrimSpace(text)
	if strings.Trim(trimmed, "+-.0123456789eE") != "" {
		return text
	}
	x, err := strconv.ParseFloat(trimmed, 64)
	if err != nil {
		return text
	}
	return strconv.FormatFloat(x, 'f', -1, 64)
}

// float returns the change of numbers as floats.
func float(change func(float64) float64) func(wire.Value) wire.Value {
	return func(v wire.Value) wire.Value {
		if text := v.String(); !v.IsNull() && terms.IsDecimal(text) {
			x, _ := strconv.ParseFloat(text, 64)
			return wire.Text(strconv.FormatFloat(change(x), 'f', -1, 64))
		}
		return v
	}
}

func numerically(as string, change func(float64) float64) misreading {
	return changing(as, true, float(change), aboutNumbers)
}

func rounded(as string, change func(float64) float64) misreading {
	return changing(as, false, float(change), aboutNumbers)
}

func aboutNumbers(op wire.Op, t wire.Type) bool { return t.Numeric() && withOperands(op) }

// timeMisreadings move days and instants.
var timeMisreadings = []misreading{
	inZone(-time.Hour), inZone(time.Hour),
	shifted("the operand were a day later", 24*time.Hour), shifted("the operand were a day earlier", -24*time.Hour),
	truncated("the operand had no fraction of a second", time.Second, false),
	truncated("the operand were cut to the day", 24*time.Hour, false),
	truncated("instants were cut to the second", time.Second, true),
	truncated("instants were cut to the day", 24*time.Hour, true),
	dayBegins("a day began at 8 in the morning, in UTC", 8*time.Hour), dayBegins("a day began at 10 in the evening, in UTC", -2*time.Hour),
	dayBegins("a day were its last moment, so that a bound included all of it", 24*time.Hour-time.Millisecond),
}

// moved returns the change of a day or an instant, spelled as it was.
func moved(change func(time.Time) time.Time) func(wire.Value) wire.Value {
	return onTexts(func(text string) string {
		if len(text) == len(time.DateOnly) {
			if at, err := time.Parse(time.DateOnly, text); err == nil {
				return change(at).Format(time.DateOnly)
			}
			return text
		}
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return text
		}
		layout := "2006-01-02T15:04:05"
		if dot := strings.IndexByte(text, '.'); dot > 0 {
			layout += "." + strings.Repeat("0", strings.IndexFunc(text[dot+1:], func(r rune) bool { return r < '0' || r > '9' }))
		}
		return change(at).Format(layout + "Z07:00")
	})
}

// zoneMisreadings take operands for times of day in each offset from UTC that places have.
var zoneMisreadings = func() (list []misreading) {
	for quarters := 4; quarters <= 4*14; quarters++ {
		offset := time.Duration(quarters) * 15 * time.Minute
		list = append(list, inZone(offset), inZone(-offset))
	}
	return list
}()

// inZone returns the misreading of instants as times of day in a zone, given by its offset from UTC.
func inZone(offset time.Duration) misreading {
	at := time.Time{}.In(time.FixedZone("", int(offset.Seconds())))
	return shifted("operands were read in "+at.Format("-07:00"), -offset)
}

func shifted(as string, by time.Duration) misreading {
	later := moved(func(at time.Time) time.Time { return at.Add(by) })
	return changing(as, false, later, func(op wire.Op, t wire.Type) bool {
		return withOperands(op) && (t == wire.TypeDatetime || t == wire.TypeDate && by.Abs() >= 24*time.Hour)
	})
}

// dayBegins returns the misreading of a day, which bounds instants, as that of another time zone.
func dayBegins(as string, at time.Duration) misreading {
	begin := onTexts(func(text string) string {
		day, err := time.Parse(time.DateOnly, text)
		if err != nil {
			return text
		}
		return day.Add(at).Format("2006-01-02T15:04:05.000Z07:00")
	})
	return changing(as, false, begin, func(op wire.Op, t wire.Type) bool { return t == wire.TypeDatetime && withOperands(op) })
}

func truncated(as string, to time.Duration, both bool) misreading {
	cut := moved(func(at time.Time) time.Time { return at.Truncate(to) })
	return changing(as, both, cut, func(op wire.Op, t wire.Type) bool {
		return withOperands(op) && (t == wire.TypeDatetime || t == wire.TypeDate && to >= 24*time.Hour)
	})
}
