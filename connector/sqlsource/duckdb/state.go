package duckdb

import (
	"errors"
	"strings"

	driver "github.com/duckdb/duckdb-go/v2"
)

// states are the SQLSTATEs of the kinds of failures that are of the data.
var states = map[driver.ErrorType]string{
	driver.ErrorTypeOutOfRange:   "22003",
	driver.ErrorTypeConversion:   "22P02",
	driver.ErrorTypeDivideByZero: "22012",
	driver.ErrorTypeInvalidInput: "22023",
	driver.ErrorTypeObjectSize:   "54000",
	driver.ErrorTypeBinder:       "42000",
	driver.ErrorTypeTransaction:  "40001",
	driver.ErrorTypePermission:   "42501",
	driver.ErrorTypeInterrupt:    "57014",
}

// prefixes begin the messages of the kinds that are treated differently.
var prefixes = map[string]driver.ErrorType{
	"Out of Range Error":       driver.ErrorTypeOutOfRange,
	"Conversion Error":         driver.ErrorTypeConversion,
	"Invalid Input Error":      driver.ErrorTypeInvalidInput,
	"Object Size Error":        driver.ErrorTypeObjectSize,
	"Binder Error":             driver.ErrorTypeBinder,
	"Catalog Error":            driver.ErrorTypeCatalog,
	"IO Error":                 driver.ErrorTypeIO,
	"TransactionContext Error": driver.ErrorTypeTransaction,
	"Permission Error":         driver.ErrorTypePermission,
	"INTERRUPT Error":          driver.ErrorTypeInterrupt,
	"FATAL Error":              driver.ErrorTypeFatal,
	"INTERNAL Error":           driver.ErrorTypeInternal,
}

// failure returns a message of the engine as the driver's error.
func failure(message string) error {
	prefix, _, _ := strings.Cut(message, ": ")
	return &driver.Error{Type: prefixes[prefix], Msg: message}
}

// State reads the kind of the driver's error, and its text where that says more.
func (flavor) State(err error) string {
	var own *driver.Error
	if !errors.As(err, &own) {
		return ""
	}
	says := func(text string) bool { return strings.Contains(own.Msg, text) }
	switch {
	case own.Type == driver.ErrorTypeCatalog && says("does not exist"), says("No files found that match"):
		return "42P01"
	case says("Malformed JSON"):
		return "22032"
	case says("not a valid DuckDB database"):
		return "XX001"
	case says("Could not set lock on file"):
		return "55P03"
	case own.Type == driver.ErrorTypeIO && says("Cannot open database"):
		return "3D000"
	}
	return states[own.Type]
}
