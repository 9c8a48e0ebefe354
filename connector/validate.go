package connector

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/go-playground/validator/v10"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// The validator checks definitions and discovered tables. It does not check
// requests: decoding one by hand costs a fraction of validating it.

// validate has the rules for definitions and discovered tables. It is built once
// and only read.
var validate = newValidator()

func newValidator() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(f reflect.StructField) string {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		return name
	})
	text := func(tag string, valid func(string) bool) {
		must(v.RegisterValidation(tag, func(fl validator.FieldLevel) bool { return valid(fl.Field().String()) }))
	}
	text("slug", terms.IsSlug)
	text("utf8", utf8.ValidString)
	text("type", func(s string) bool { return terms.IsType(wire.Type(s)) })

	v.RegisterStructValidationMapRules(map[string]string{"Slug": "slug", "Credentials": "dive"}, Definition{})
	v.RegisterStructValidationMapRules(map[string]string{
		"PageSizeMax": "min=0,max=9007199254740991", "RowsPerTableMax": "min=0,max=9007199254740991",
		"OffsetMax": "min=0,max=9007199254740991", "Concurrency": "min=1,max=16",
	}, wire.Limits{})
	v.RegisterStructValidationMapRules(map[string]string{
		"Key": "required,utf8", "Label": "required,utf8", "Type": "oneof=text password textarea",
		"Placeholder": "utf8", "Help": "utf8",
	}, wire.CredentialField{})
	v.RegisterStructValidationMapRules(map[string]string{"Tables": "dive", "Warnings": "dive,utf8"}, wire.Discovery{})
	v.RegisterStructValidationMapRules(map[string]string{
		"Name": "required,utf8", "SourceDescription": "utf8", "RowCount": "omitempty,min=0,max=9007199254740991",
		"Fields": "dive", "ForeignKeys": "dive",
	}, wire.Table{})
	v.RegisterStructValidationMapRules(map[string]string{
		"Field": "required", "TargetTable": "required,utf8", "TargetField": "required,utf8",
	}, wire.ForeignKey{})
	v.RegisterStructValidationMapRules(map[string]string{
		"Name": "required,utf8", "SourceColumn": "utf8", "Type": "type", "SourceDescription": "utf8",
		"Stats": "omitempty",
	}, wire.Field{})
	v.RegisterStructValidationMapRules(map[string]string{
		"NullPercent": "omitempty,min=0,max=100", "DistinctCount": "min=0,max=9007199254740991",
	}, wire.Stats{})

	v.RegisterStructValidation(func(sl validator.StructLevel) {
		fields := sl.Current().Interface().(Definition).Credentials
		reportDuplicates(sl, "credentialSchema", "key", fields, func(f wire.CredentialField) string { return f.Key })
	}, Definition{})
	v.RegisterStructValidation(func(sl validator.StructLevel) {
		validateKeys(sl, sl.Current().Interface().(wire.Discovery))
	}, wire.Discovery{})
	v.RegisterStructValidation(func(sl validator.StructLevel) {
		validateTable(sl, sl.Current().Interface().(wire.Table))
	}, wire.Table{})
	v.RegisterStructValidation(func(sl validator.StructLevel) {
		validateValues(sl, sl.Current().Interface().(wire.Field))
	}, wire.Field{})
	return v
}

func must(err error) {
	if err != nil {
		panic(err) // a rule above is misspelled; every test of the package finds it
	}
}

func reportDuplicates[T any](sl validator.StructLevel, list, member string, items []T, name func(T) string) {
	seen := map[string]bool{}
	for i, item := range items {
		if n := name(item); seen[n] {
			path := fmt.Sprintf("%s[%d]", list, i)
			if member != "" {
				path += "." + member
			}
			sl.ReportError(n, path, path, "duplicate", "")
		}
		seen[name(item)] = true
	}
}

// validateKeys checks table names and the fields that foreign keys lead to. A foreign key to a
// table that is not listed is served, with a warning in the log: see [danglingKeys].
func validateKeys(sl validator.StructLevel, d wire.Discovery) {
	reportDuplicates(sl, "tables", "name", d.Tables, func(t wire.Table) string { return t.Name })
	tables := map[string]map[string]*wire.Field{}
	for i := range d.Tables {
		tables[d.Tables[i].Name] = fieldsOf(&d.Tables[i])
	}
	for i, t := range d.Tables {
		for j, k := range t.ForeignKeys {
			if target := tables[k.TargetTable]; target != nil && target[k.TargetField] == nil {
				path := fmt.Sprintf("tables[%d].foreignKeys[%d].targetField", i, j)
				sl.ReportError(k.TargetField, path, path, "nofield", "")
			}
		}
	}
}

// danglingKeys returns a sentence for each foreign key that leads to a table that discovery does
// not list [rule discovery-8]. Such a key is not refused: the tables of a source change under its
// keys, and a tenant would lose all of them for one name. Those who read the log can mend it.
func danglingKeys(d *wire.Discovery) (warnings []string) {
	listed := map[string]bool{}
	for i := range d.Tables {
		listed[d.Tables[i].Name] = true
	}
	for _, t := range d.Tables {
		for _, k := range t.ForeignKeys {
			if !listed[k.TargetTable] {
				warnings = append(warnings, fmt.Sprintf("the foreign key %s of table %s leads to table %s, which Discover does not list",
					terms.QuoteName(k.Field), terms.QuoteName(t.Name), terms.QuoteName(k.TargetTable)))
			}
		}
	}
	return warnings
}

func validateTable(sl validator.StructLevel, t wire.Table) {
	same := func(s string) string { return s }
	reportDuplicates(sl, "fields", "name", t.Fields, func(f wire.Field) string { return f.Name })
	reportDuplicates(sl, "primaryKey", "", t.PrimaryKey, same)
	fields := fieldsOf(&t)
	for i, key := range t.PrimaryKey {
		if fields[key] == nil {
			path := fmt.Sprintf("primaryKey[%d]", i)
			sl.ReportError(key, path, path, "nofield", "")
		}
	}
	for i, k := range t.ForeignKeys {
		if k.Field != "" && fields[k.Field] == nil {
			path := fmt.Sprintf("foreignKeys[%d].field", i)
			sl.ReportError(k.Field, path, path, "nofield", "")
		}
	}
}

func validateValues(sl validator.StructLevel, f wire.Field) {
	report := func(v *wire.Value, path string) {
		if v != nil && v.Err() != nil {
			sl.ReportError("", path, path, "value", v.Err().Error())
		}
	}
	for i := range f.Samples {
		report(&f.Samples[i], fmt.Sprintf("samples[%d]", i))
	}
	if f.Stats != nil {
		report(f.Stats.Min, "stats.min")
		report(f.Stats.Max, "stats.max")
	}
}

func validateDefinition(def Definition) []error { return faults(validate.Struct(def)) }

// validateDiscovery returns an error that names every fault of the discovered
// tables. Only the author can repair them, so it is an internal error, for the log.
func validateDiscovery(d *wire.Discovery) error {
	list := faults(validate.Struct(d))
	if len(list) == 0 {
		return nil
	}
	return fmt.Errorf("the tables that Discover answered break the rules: %w", errors.Join(list...))
}

// faults returns the findings of a validation, each with its JSON path and what is
// wrong there, and without the value.
func faults(err error) (list []error) {
	var found validator.ValidationErrors
	if !errors.As(err, &found) {
		if err != nil {
			list = append(list, err)
		}
		return list
	}
	for _, f := range found {
		_, path, _ := strings.Cut(f.Namespace(), ".")
		list = append(list, fmt.Errorf("%s: %s", path, rule(f)))
	}
	return list
}

func rule(f validator.FieldError) string {
	switch f.Tag() {
	case "required":
		return "must not be empty"
	case "slug":
		return "must match ^[a-z][a-z0-9-]{2,39}$"
	case "utf8":
		return "must be valid UTF-8"
	case "type":
		return "must be one of string, number, decimal, boolean, date, datetime, json, array, reference"
	case "oneof":
		return "must be one of " + strings.ReplaceAll(f.Param(), " ", ", ")
	case "min":
		return "must be at least " + f.Param()
	case "max":
		return "must be at most " + f.Param()
	case "duplicate":
		return "duplicate of an earlier entry"
	case "nofield":
		return "the table has no field of this name"
	case "value":
		return f.Param()
	}
	return "breaks the rule " + f.Tag()
}
