package main

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// units are the times in which a rate counts requests.
var units = map[string]time.Duration{
	"s": time.Second, "sec": time.Second, "second": time.Second,
	"m": time.Minute, "min": time.Minute, "minute": time.Minute,
	"h": time.Hour, "hour": time.Hour,
	"d": 24 * time.Hour, "day": 24 * time.Hour,
}

// pace reads the least time between two requests. A vendor states a rate such as 60/min, so it
// takes one beside a time such as 100ms.
func pace(text string) (time.Duration, error) {
	count, unit, rate := strings.Cut(text, "/")
	if !rate {
		least, err := time.ParseDuration(text)
		if err != nil {
			return 0, errors.New("give a rate such as 60/min, or a time such as 100ms")
		}
		return least, nil
	}
	n, err := strconv.ParseUint(strings.TrimSpace(count), 10, 31)
	in := units[strings.TrimSpace(unit)]
	if err != nil || n == 0 || in == 0 {
		return 0, errors.New("a rate is a number of requests in a s, min, h or day, such as 60/min")
	}
	// Rounded up, so that the rate is not exceeded.
	return (in + time.Duration(n) - 1) / time.Duration(n), nil
}
