package restsource_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/connectorsdk/connector-sdk-go/connector/restsource"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// TestTimes: dates as APIs write them, several spellings in one column.
func TestTimes(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	column := func(zone *time.Location, layouts ...string) restsource.Column {
		return restsource.Column{Type: wire.TypeDatetime, Zone: zone, Layouts: layouts}
	}
	unix := func(unit time.Duration) restsource.Column {
		return restsource.Column{Type: wire.TypeDatetime, Unix: unit}
	}
	both := restsource.Column{Type: wire.TypeDatetime, Unix: time.Second, Layouts: []string{"20060102"}, Zone: time.UTC}
	day := restsource.Column{Type: wire.TypeDate, Layouts: []string{"02.01.2006", "January 2, 2006"}}
	twice := column(time.UTC, "01/02/2006", "02/01/2006")
	for _, c := range []struct {
		column restsource.Column
		value  string
		want   string // "": the read fails
	}{
		// Business Central answers with and without a fraction: airbytehq/airbyte#28782.
		{column(time.UTC, time.DateTime), `"2024-11-01T08:48:50.120Z"`, "2024-11-01T08:48:50.120Z"},
		{column(time.UTC, time.DateTime), `"2024-11-01 08:48:50"`, "2024-11-01T08:48:50Z"},
		{column(time.UTC, time.DateTime), `"2024-11-01 08:48:50.5"`, "2024-11-01T08:48:50.500Z"},
		{column(berlin, time.DateTime), `"2024-11-01 08:48:50"`, "2024-11-01T07:48:50Z"},
		{column(berlin, "2006-01-02T15:04:05"), `"2024-07-01T08:00:00"`, "2024-07-01T06:00:00Z"},
		{column(nil, time.RFC1123Z), `"Fri, 01 Nov 2024 08:48:50 +0100"`, "2024-11-01T07:48:50Z"},
		{column(time.UTC, "Mon, 02 Jan 2006 15:04:05 GMT"), `"Fri, 01 Nov 2024 08:48:50 GMT"`, "2024-11-01T08:48:50Z"},
		{column(time.UTC, time.DateTime), `""`, "null"},
		{column(time.UTC, time.DateTime), `null`, "null"},
		{column(time.UTC, time.DateTime), `1730450930`, ""},
		{column(time.UTC, time.DateTime), `"2024-11-01 08:48:50.1234567891"`, ""}, // package time would cut it
		{column(berlin, time.DateTime), `"2024-10-27 02:30:00"`, ""},              // is there twice
		{column(berlin, time.DateTime), `"2024-10-27 03:00:00"`, "2024-10-27T02:00:00Z"},
		{column(berlin, time.DateTime), `"2024-03-31 02:30:00"`, ""}, // is not there
		{twice, `"13/02/2024"`, "2024-02-13T00:00:00Z"},
		{twice, `"03/03/2024"`, "2024-03-03T00:00:00Z"},
		{twice, `"03/04/2024"`, ""}, // March or April
		{day, `"1.11.2024"`, ""},
		{day, `"01.11.2024"`, "2024-11-01"},
		{day, `"November 1, 2024"`, "2024-11-01"},
		{day, `"2024-11-01T23:00:00-05:00"`, "2024-11-01"},
		// Rutter takes and gives milliseconds: airbytehq/airbyte#29398.
		{unix(time.Millisecond), `1730450930120`, "2024-11-01T08:48:50.120Z"},
		{unix(time.Second), `"1730450930"`, "2024-11-01T08:48:50Z"},
		{unix(time.Second), `1730450930.000200`, "2024-11-01T08:48:50.000200Z"}, // as Slack writes it
		{unix(time.Second), `1.73045093e9`, "2024-11-01T08:48:50Z"},
		{unix(time.Second), `-1.5`, "1969-12-31T23:59:58.500Z"},
		{unix(time.Microsecond), `1730450930000001`, "2024-11-01T08:48:50.000001Z"},
		{unix(time.Nanosecond), `"1730450930000000001"`, "2024-11-01T08:48:50.000000001Z"},
		{unix(time.Nanosecond), `1.5`, ""},
		{unix(time.Second), `1730450930120`, ""}, // the year 56805: the unit is another
		{unix(time.Second), `"soon"`, ""},
		{unix(time.Second), `"2024-11-01"`, "2024-11-01T00:00:00Z"},
		{unix(time.Second), `true`, ""},
		{both, `1730450930`, "2024-11-01T08:48:50Z"},
		{both, `"20241101"`, ""}, // a day, or one in 1970
	} {
		t.Run(c.value, func(t *testing.T) {
			c.column.Name = "v"
			api := &emulated{answer: func(*http.Request) (int, string) { return 200, fmt.Sprintf(`[{"v": %s}]`, c.value) }}
			table := restsource.Table{Name: "t", Pages: onePage, Path: "/t", Columns: []restsource.Column{c.column}}
			tenant, log := logged(t, shopAPI, []restsource.Table{table}, handlerTransport{api})
			rows, err := read(t, tenant, "t", nil, "v")
			if c.want == "" {
				require.Error(t, err)
				assert.NotContains(t, log.String(), c.value, "no error quotes a value")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, []string{c.want}, rows)
		})
	}
	for _, c := range []restsource.Column{
		column(nil, time.DateTime),                                // in which zone?
		column(time.UTC, time.RFC1123),                            // CET is +1, or an unknown name
		{Type: wire.TypeString, Layouts: []string{time.DateOnly}}, // not a time
		{Type: wire.TypeDate, Unix: time.Second},                  // a date is not counted in seconds
		{Type: wire.TypeDatetime, Zone: time.UTC},                 // of what?
		{Type: wire.TypeDatetime, Unix: time.Second, Convert: func(any) (wire.Value, error) { return wire.Null(), nil }},
	} {
		c.Name = "v"
		_, err := restsource.New(shopAPI, []restsource.Table{{Name: "t", Pages: onePage, Path: "/t", Columns: []restsource.Column{c}}}, nil)
		require.Error(t, err)
	}
}

// TestTimesGraded: the judge over a column of several spellings.
func TestTimesGraded(t *testing.T) {
	api := &emulated{answer: func(*http.Request) (int, string) {
		return 200, `[{"id": 1, "at": "2024-11-01 08:48:50"}, {"id": 2, "at": 1730450930}, {"id": 3, "at": null},
			{"id": 4, "at": "2024-10-01T00:00:00Z"}]`
	}}
	graded(t, api, nil, restsource.Table{Name: "t", Pages: onePage, Path: "/t", Key: []string{"id"}, Columns: []restsource.Column{
		{Name: "id", Type: wire.TypeNumber},
		{Name: "at", Type: wire.TypeDatetime, Layouts: []string{time.DateTime}, Zone: time.UTC, Unix: time.Second},
	}})
}
