package restsource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/connectorsdk/connector-sdk-go/wire"
)

// Introspect returns a Table.ColumnsOf for a table with a GraphQL query: a column for
// each field of a type of the API's schema that is a value or a list of values, such as
// Introspect("Order"). Fields with required arguments, objects and their lists are left
// out: declare them as columns.
//
//	Int, Float                                     number
//	Decimal, BigDecimal, Money                     decimal
//	Boolean                                        boolean
//	Date                                           date
//	DateTime, ISO8601DateTime, Timestamp, ...      datetime
//	JSON, JSONObject, ...                          json
//	lists                                          array
//	ID, String, enums and other scalars            string
//
// It takes one request more in each request of the platform that concerns the table, and
// fails where the API does not allow introspection. Declared columns come first, and are
// not replaced.
func Introspect(typeName string) func(ctx context.Context, get func(path string, query url.Values) ([]byte, error)) ([]Column, error) {
	const ask = `{ __type(name: %q) { fields { name description args { defaultValue type { kind } }
		type { kind name ofType { kind name ofType { kind name ofType { kind name } } } } } } }`
	return func(_ context.Context, get func(path string, query url.Values) ([]byte, error)) ([]Column, error) {
		body, err := get("", url.Values{"query": {fmt.Sprintf(ask, typeName)}})
		if err != nil {
			return nil, err
		}
		var answer struct {
			Data struct {
				Type *struct {
					Fields []schemaField `json:"fields"`
				} `json:"__type"`
			} `json:"data"`
		}
		if err := json.Unmarshal(body, &answer); err != nil || answer.Data.Type == nil {
			return nil, errors.Join(errors.New(
				"the API describes no type of this name, or does not allow introspection; declare the columns"), err)
		}
		var columns []Column
		for _, f := range answer.Data.Type.Fields {
			if c, ok := f.column(); ok {
				columns = append(columns, c)
			}
		}
		return columns, nil
	}
}

// schemaField is a field as introspection describes it.
type schemaField struct {
	Name        string
	Description string
	Args        []struct {
		DefaultValue *string
		Type         schemaType
	}
	Type schemaType
}

// schemaType is a type as introspection describes it.
type schemaType struct {
	Kind, Name string
	OfType     *schemaType
}

// bare returns the type without the mark of a required one.
func (t schemaType) bare() (own schemaType, required bool) {
	if t.Kind == "NON_NULL" && t.OfType != nil {
		return *t.OfType, true
	}
	return t, false
}

// column returns the column of a field, and false for one that is no value.
func (f *schemaField) column() (Column, bool) {
	for _, a := range f.Args {
		if a.Type.Kind == "NON_NULL" && a.DefaultValue == nil {
			return Column{}, false
		}
	}
	own, required := f.Type.bare()
	c := Column{Name: f.Name, Description: f.Description, NotNull: required, found: true}
	if own.Kind == "LIST" && own.OfType != nil {
		element, _ := own.OfType.bare()
		c.Type = wire.TypeArray
		return c, element.Kind == "SCALAR" || element.Kind == "ENUM"
	}
	c.Type = scalarType(own.Name)
	return c, own.Kind == "SCALAR" || own.Kind == "ENUM"
}

// scalarType returns the type of a column for a scalar of a schema.
func scalarType(name string) wire.Type {
	switch lower := strings.ToLower(name); {
	case lower == "int" || lower == "float" || lower == "long" || lower == "bigint":
		return wire.TypeNumber
	case lower == "boolean":
		return wire.TypeBoolean
	case strings.HasSuffix(lower, "decimal") || lower == "money":
		return wire.TypeDecimal
	case lower == "date" || lower == "iso8601date" || lower == "localdate":
		return wire.TypeDate
	case strings.HasSuffix(lower, "datetime") || lower == "timestamp" || lower == "instant" || lower == "timestamptz":
		return wire.TypeDatetime
	case strings.HasPrefix(lower, "json"):
		return wire.TypeJSON
	}
	return wire.TypeString
}
