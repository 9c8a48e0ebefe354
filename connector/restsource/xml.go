package restsource

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// DecodeXML returns a Table.Unwrap for an answer in XML, SOAP included. Table.Rows, the
// paths of Pages and those of the columns are made of the names of elements, without their
// namespaces and without the root:
//
//	Rows: "items.item", Unwrap: restsource.DecodeXML("items.item"),
//
// rows is the path of the elements that are rows. lists are the paths of other elements
// that may be there more than once, such as "items.item.tag": they are lists, however many
// there are. An element that is there twice and is not among them is an error. The
// attribute currency of the element price is "price@currency", whatever is in price, that
// of the row itself "@currency", and the text of a row that has attributes "#text".
// Attributes have no namespaces either, and two of one name with different values are an
// error. Those of XML Schema are apart, such as "price@xsi:type". An element with
// xsi:nil="true" is null, and so is one with nil="true" that has neither text nor elements.
func DecodeXML(rows string, lists ...string) func(body []byte) ([]byte, error) {
	return func(body []byte) ([]byte, error) {
		x := &xmlReader{xml.NewDecoder(bytes.NewReader(body)), append([]string{rows}, lists...)}
		x.CharsetReader = charset
		var root any
		for {
			token, err := x.Token()
			if errors.Is(err, io.EOF) && root != nil {
				return json.Marshal(root)
			}
			if err != nil {
				return nil, err
			}
			start, ok := token.(xml.StartElement)
			if ok && root != nil {
				return nil, errors.New("there is more than one document in it")
			}
			if ok {
				if root, _, err = x.element(start, "", asObject, 1); err != nil {
					return nil, err
				}
			}
		}
	}
}

// xmlReader makes JSON of XML.
type xmlReader struct {
	*xml.Decoder
	lists []string // paths of elements; the first is that of the rows
}

// The ways to write an element.
const (
	asValue   = iota // a text, or an object if it has elements
	asElement        // of a list: an object also if it has attributes
	asObject
)

// element reads an element to its end. It returns its attributes beside it, which are also
// members of an object.
func (x *xmlReader) element(
	start xml.StartElement, path string, way, depth int,
) (value any, beside map[string]any, err error) {
	if depth > maxNesting {
		return nil, nil, errors.New("it is nested too deep")
	}
	var text strings.Builder
	own := map[string]any{}
	attributes, null, err := attributesOf(start)
	if err != nil {
		return nil, nil, err
	}
	for {
		token, err := x.Token()
		if err != nil {
			return nil, nil, err
		}
		switch token := token.(type) {
		case xml.CharData:
			text.Write(token)
		case xml.StartElement:
			if err := x.child(own, token, path, depth); err != nil {
				return nil, nil, err
			}
		case xml.EndElement:
			blank := strings.TrimSpace(text.String()) == ""
			if len(own) > 0 && !blank {
				return nil, nil, errors.New("there is text among elements")
			}
			null = null || attributes["@nil"] == "true" && blank && len(own) == 0
			for i, list := range x.lists { // one without an item is empty
				at, name := splitLast(list)
				if at != path || own[name] != nil || null {
					continue
				}
				if root := start.Name.Local; path == "" && i == 0 && (!blank || len(own) > 0 && isRefusal(root)) {
					return nil, nil, fmt.Errorf("there are no rows in %q, and what is there seems to be no empty list", root)
				}
				own[name] = []any{}
			}
			switch {
			case null:
				return nil, attributes, nil
			case len(own) == 0 && way == asValue || len(own)+len(attributes) == 0 && way == asElement:
				return text.String(), attributes, nil
			case !blank:
				own["#text"] = text.String()
			}
			maps.Copy(own, attributes)
			return own, attributes, nil
		}
	}
}

// isRefusal reports whether a document with a root of this name is a refusal or a page for people. Its
// rows would be elements of the root, so that any document without them could be an empty list.
func isRefusal(root string) bool {
	name := plainCode(root)
	return name == "html" || namesFailure(name) || strings.Contains(name, "exception") || strings.Contains(name, "error")
}

// attributesOf returns the attributes of an element, and whether it has xsi:nil="true".
func attributesOf(start xml.StartElement) (attributes map[string]any, null bool, err error) {
	attributes = map[string]any{}
	for _, a := range start.Attr {
		name := "@" + a.Name.Local
		switch space := a.Name.Space; {
		case space == "xmlns" || a.Name.Local == "xmlns":
			continue
		case space == "xsi" || strings.HasSuffix(space, "/XMLSchema-instance"):
			if a.Name.Local == "nil" {
				null = a.Value == "true" || a.Value == "1"
				continue
			}
			name = "@xsi:" + a.Name.Local
		}
		if other, twice := attributes[name]; twice && other != a.Value {
			return nil, false, fmt.Errorf("the attribute %q of %q is there twice", a.Name.Local, start.Name.Local)
		}
		attributes[name] = a.Value
	}
	return attributes, null, nil
}

// child reads an element within an element, and adds it to its members.
func (x *xmlReader) child(own map[string]any, start xml.StartElement, path string, depth int) error {
	name := start.Name.Local
	at := strings.TrimPrefix(path+"."+joinPath([]string{name}), ".")
	place := slices.Index(x.lists, at)
	way := asValue
	if place >= 0 {
		way = max(asElement, asObject-place)
	}
	value, beside, err := x.element(start, at, way, depth+1)
	if err != nil {
		return err
	}
	if list, _ := own[name].([]any); place >= 0 {
		own[name] = append(list, value)
		return nil
	}
	if _, twice := own[name]; twice {
		return fmt.Errorf("the element %q is there twice; name it in DecodeXML if that may be", at)
	}
	own[name] = value
	for attribute, text := range beside {
		own[name+attribute] = text
	}
	return nil
}

// splitLast splits a member path before its last name.
func splitLast(path string) (above, name string) {
	names := splitPath(path)
	return joinPath(names[:len(names)-1]), names[len(names)-1]
}

// charset returns a reader of UTF-8 for a text in another encoding.
func charset(name string, text io.Reader) (io.Reader, error) {
	switch strings.ToLower(name) {
	case "utf-8", "us-ascii":
		return text, nil
	case "iso-8859-1", "latin1":
		latin, err := io.ReadAll(text)
		runes := make([]rune, len(latin))
		for i, c := range latin {
			runes[i] = rune(c)
		}
		return strings.NewReader(string(runes)), err
	}
	return nil, errors.New("it is in an encoding that is not read")
}
