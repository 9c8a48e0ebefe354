package standin

import (
	"encoding/json"
	"errors"
	"mime"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/go-playground/validator/v10"
)

var validate = newValidator()

func newValidator() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(memberName)
	return v
}

func memberName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

// decode reads a JSON body into the struct that dst points to and checks it
// against the struct's validate tags. A failure names the member. Members that
// the struct lacks are ignored, and names must match exactly: encoding/json
// alone would also take "Name" for "name".
func (c *call) decode(dst any) error {
	if media, _, err := mime.ParseMediaType(c.request.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return invalid("", "Send the body as application/json.")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(c.body, &members); err != nil || members == nil || !utf8.Valid(c.body) {
		return invalid("", "The body is not a JSON object.")
	}
	v := reflect.ValueOf(dst).Elem()
	for i := range v.NumField() {
		name := memberName(v.Type().Field(i))
		value, ok := members[name]
		if !ok {
			continue
		}
		if err := json.Unmarshal(value, v.Field(i).Addr().Interface()); err != nil {
			var wrong *json.UnmarshalTypeError
			if errors.As(err, &wrong) && wrong.Field != "" {
				name += "." + wrong.Field
			}
			return invalid(name, "%s has the wrong type.", name)
		}
	}
	var wrong validator.ValidationErrors
	if err := validate.Struct(dst); errors.As(err, &wrong) {
		name := strings.TrimPrefix(wrong[0].Namespace(), v.Type().Name()+".")
		if wrong[0].Tag() == "required" {
			return invalid(name, "%s is required.", name)
		}
		return invalid(name, "%s is not valid.", name)
	} else if err != nil {
		return err
	}
	return nil
}

// decodeOptional decodes a body that may be left out.
func (c *call) decodeOptional(dst any) error {
	if len(c.body) == 0 {
		return nil
	}
	return c.decode(dst)
}
