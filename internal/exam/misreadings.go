package exam

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/connectorsdk/connector-sdk-go/internal/terms"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// misreadings lists the most frequent first: of several that explain an answer, the
// first is reported.
var misreadings = slices.Concat(
	weighing(sometimes, []misreading{
		matching("the filter were not there", anyFilter, every(true)),
		matching("the filter matched nothing", anyFilter, every(false)),
	}),
	weighing(often, boundMisreadings),
	weighing(sometimes, slices.Concat(operatorMisreadings, nullMisreadings, listMisreadings)),
	weighing(often, nullMembers),
	ofOneToo(weighing(often, collationMisreadings)),
	weighing(sometimes, slices.Concat(textMisreadings, numberMisreadings, timeMisreadings, transportMisreadings)),
	weighing(seldom, slices.Concat(rareMisreadings, veryLongLists)))

func anyFilter(wire.Filter, wire.Type) bool { return true }

// every returns the matchers that give every cell the same answer.
func every(matches bool) func(wire.Filter, wire.Type) matcher {
	return func(wire.Filter, wire.Type) matcher { return func(wire.Value) bool { return matches } }
}

// boundMisreadings err at the bound of a range. Only an operand that is spelled in the
// rows shows them.
var boundMisreadings = []misreading{
	instead(wire.OpGt, wire.OpGte), instead(wire.OpGte, wire.OpGt), instead(wire.OpLt, wire.OpLte), instead(wire.OpLte, wire.OpLt),
}

// operatorMisreadings take one operator for another.
var operatorMisreadings = []misreading{
	instead(wire.OpEq, wire.OpNeq), instead(wire.OpNeq, wire.OpEq),
	instead(wire.OpEq, wire.OpIncludes), instead(wire.OpEq, wire.OpStartsWith),
	instead(wire.OpIsNull, wire.OpNotNull), instead(wire.OpNotNull, wire.OpIsNull),
	instead(wire.OpIn, wire.OpNin), instead(wire.OpNin, wire.OpIn),
	instead(wire.OpIncludes, wire.OpStartsWith), instead(wire.OpIncludes, wire.OpEq), instead(wire.OpStartsWith, wire.OpIncludes),
	instead(wire.OpStartsWith, wire.OpEq), instead(wire.OpContains, wire.OpIncludes), instead(wire.OpContains, wire.OpEq),
	taking("the JSON of the operand were looked for in the text of the list", func(f wire.Filter, t wire.Type) (wire.Filter, wire.Type, bool) {
		concerned := f.Op == wire.OpContains && !f.Value.IsNull()
		f.Op = wire.OpIncludes
		if f.Value.Kind() == wire.KindText {
			f.Value = wire.Text(`"` + f.Value.Text() + `"`)
		}
		return f, t, concerned
	}),
}

// instead returns the misreading of an operator as another.
func instead(op, other wire.Op) misreading {
	m := taking(string(op)+" were "+string(other), func(f wire.Filter, t wire.Type) (wire.Filter, wire.Type, bool) {
		f.Op = other
		return f, t, true
	})
	m.about = func(of wire.Op, _ wire.Type) bool { return of == op }
	return m
}

// onText returns the reading of an operator as a test of the cell's text.
func onText(op wire.Op, test func(text, operand string) bool) func(wire.Filter, wire.Type) matcher {
	return func(f wire.Filter, _ wire.Type) matcher {
		if f.Op != op || f.Value.IsNull() {
			return nil
		}
		operand := f.Value.String()
		return func(v wire.Value) bool { return !v.IsNull() && test(v.String(), operand) }
	}
}

// nullMisreadings judge nulls wrongly, or the empty text as a null.
var nullMisreadings = []misreading{
	matching("neq and nin kept or dropped nulls the other way round", withOp(wire.OpNeq, wire.OpNin),
		func(f wire.Filter, t wire.Type) matcher {
			matches := right(f, t)
			return func(v wire.Value) bool { return v.IsNull() != matches(v) }
		}),
	nullsKept(wire.OpGt), nullsKept(wire.OpGte), nullsKept(wire.OpLt), nullsKept(wire.OpLte),
	changing("the empty text were null", true, func(v wire.Value) wire.Value {
		if v.Kind() == wire.KindText && v.Text() == "" {
			return wire.Null()
		}
		return v
	}, func(_ wire.Op, t wire.Type) bool { return terms.IsText(t) }),
	changing("null were the empty text", true, func(v wire.Value) wire.Value {
		if v.IsNull() {
			return wire.Text("")
		}
		return v
	}, nil),
	matching("a null operand equalled null", func(f wire.Filter, _ wire.Type) bool {
		return terms.ShapeOf(f.Op) == terms.ShapeValue && f.Value.IsNull()
	}, func(f wire.Filter, _ wire.Type) matcher {
		return func(v wire.Value) bool { return v.IsNull() == (f.Op == wire.OpEq) }
	}),
	matching("an operand of false were no filter", func(f wire.Filter, t wire.Type) bool {
		return t == wire.TypeBoolean && terms.ShapeOf(f.Op) == terms.ShapeValue && f.Value.String() == "false"
	}, every(true)),
	matching("an operand of 0 were no filter", func(f wire.Filter, t wire.Type) bool {
		return t.Numeric() && terms.ShapeOf(f.Op) == terms.ShapeValue &&
			f.Value.String() != "" && strings.Trim(f.Value.String(), "0.") == ""
	}, every(true)),
	matching("an empty operand were no filter", func(f wire.Filter, _ wire.Type) bool {
		none := terms.ShapeOf(f.Op) == terms.ShapeValue && (f.Value.IsNull() || f.Value.String() == "")
		return none || terms.ShapeOf(f.Op) == terms.ShapeMember && len(f.Values) == 0
	}, every(true)),
	matching("an empty operand matched nothing", func(f wire.Filter, _ wire.Type) bool {
		part := f.Op == wire.OpIncludes || f.Op == wire.OpStartsWith
		return part && !f.Value.IsNull() && f.Value.String() == "" || f.Op == wire.OpNin && len(f.Values) == 0
	}, every(false)),
}

// withOp returns the condition that a filter has one of the operators.
func withOp(ops ...wire.Op) func(wire.Filter, wire.Type) bool {
	return func(f wire.Filter, _ wire.Type) bool { return slices.Contains(ops, f.Op) }
}

// nullsKept returns the misreading of a range that keeps nulls.
func nullsKept(op wire.Op) misreading {
	return matching("nulls were in the range", withOp(op), func(f wire.Filter, t wire.Type) matcher {
		matches := right(f, t)
		return func(v wire.Value) bool { return v.IsNull() || matches(v) }
	})
}

// through reads a filter over cells that were changed before.
func through(change func(wire.Value) wire.Value, f wire.Filter, t wire.Type) matcher {
	matches := right(f, t)
	return func(v wire.Value) bool { return matches(change(v)) }
}

// unchanged reports whether a misreading left a filter as it was. Lists that it changes are copies.
func unchanged(f, other wire.Filter) bool {
	return f.Op == other.Op && f.Value == other.Value && len(f.Values) == len(other.Values) &&
		(len(f.Values) == 0 || &f.Values[0] == &other.Values[0])
}

// Respelt returns a filter whose operands were changed, and whether any of them was.
func Respelt(f wire.Filter, change func(wire.Value) wire.Value) (_ wire.Filter, changed bool) {
	if terms.ShapeOf(f.Op) == terms.ShapeValue {
		if other := change(f.Value); other != f.Value {
			f.Value, changed = other, true
		}
	}
	given := f.Values
	for i, v := range given {
		other := change(v)
		if other == v {
			continue
		}
		if !changed {
			f.Values, changed = slices.Clone(given), true
		}
		f.Values[i] = other
	}
	return f, changed
}

// listMisreadings drop members of in and nin.
var listMisreadings = weighing(sometimes, []misreading{
	members("only the first member of the list counted", func(list []wire.Value) []wire.Value { return list[:min(1, len(list))] }),
	members("only the last member of the list counted", func(list []wire.Value) []wire.Value { return list[max(0, len(list)-1):] }),
	members("the first member of the list were left out", func(list []wire.Value) []wire.Value { return list[min(1, len(list)):] }),
	members("the list were one text with commas", func(list []wire.Value) []wire.Value {
		var texts []string
		for _, v := range list {
			texts = append(texts, v.String())
		}
		return []wire.Value{wire.Text(strings.Join(texts, ","))}
	}),
	members("a member with a comma were several", func(list []wire.Value) (all []wire.Value) {
		for _, v := range list {
			for part := range strings.SplitSeq(v.String(), ",") {
				all = append(all, wire.Text(part))
			}
		}
		return all
	}),
	cutAt(2), cutAt(5), cutAt(9), cutAt(10), cutAt(20), cutAt(50), cutAt(100), cutAt(200),
})

// nullMembers read a null among the members as the SQL of a list does.
var nullMembers = []misreading{
	{as: "null were a member of the list", read: func(f wire.Filter, t wire.Type) matcher {
		if terms.ShapeOf(f.Op) != terms.ShapeMember || !slices.ContainsFunc(f.Values, wire.Value.IsNull) {
			return nil
		}
		matches := right(f, t)
		return func(v wire.Value) bool {
			if v.IsNull() {
				return f.Op == wire.OpIn
			}
			return matches(v)
		}
	}},
	matching("nothing were outside a list with null", func(f wire.Filter, _ wire.Type) bool {
		return f.Op == wire.OpNin && slices.ContainsFunc(f.Values, wire.Value.IsNull)
	}, every(false)),
}

func members(as string, change func([]wire.Value) []wire.Value) misreading {
	m := taking(as, func(f wire.Filter, t wire.Type) (wire.Filter, wire.Type, bool) {
		f.Values = change(f.Values)
		return f, t, true
	})
	m.about = withList
	return m
}

// withList reports whether filters with an operator have a list.
func withList(op wire.Op, _ wire.Type) bool { return terms.ShapeOf(op) == terms.ShapeMember }

// longListMisreadings are those that long lists are judged by. Lists of a thousand come last,
// because they take some connectors seconds.
var longListMisreadings = slices.Concat(listMisreadings, nullMembers, weighing(seldom, veryLongLists))

var veryLongLists = []misreading{cutAt(500), cutAt(1000)}

// cutAt returns the misreading of a list that counts only its first members. A list that
// is much longer does not show it: sources that cut short lists are often not given long
// ones.
func cutAt(n int) misreading {
	as := "only the first " + strconv.Itoa(n) + " members of the list counted"
	m := taking(as, func(f wire.Filter, t wire.Type) (wire.Filter, wire.Type, bool) {
		if len(f.Values) <= n || len(f.Values) > 8*n {
			return f, t, false
		}
		f.Values = f.Values[:n]
		return f, t, true
	})
	m.about = withList
	return m
}

// collationMisreadings take different texts for one, as the collations that databases use
// by default do, and languages that read a text as a number where they can.
var collationMisreadings = []misreading{
	folding("texts were compared without case", strings.ToLower),
	folding("accents did not count", unaccented),
	folding("ß were ss", sharpless),
	folding("a letter and a combining accent were one character", composed),
	folding("blanks around a text did not count", strings.TrimSpace),
	taking("texts that look like numbers were numbers", func(f wire.Filter, t wire.Type) (wire.Filter, wire.Type, bool) {
		return f, "", isText(t)
	}),
	changing("texts that look like numbers were floats", true, onTexts(asFloat), func(op wire.Op, t wire.Type) bool {
		return isText(t) && comparesWhole(op)
	}),
}

// ofOneToo adds the same misreadings for lists with one member. They weigh less, because most
// connectors read both alike.
func ofOneToo(list []misreading) []misreading {
	for i := range list {
		one := list[i]
		one.as, one.weight = one.as+" in a list with one member", one.weight/2
		list[i].ofOne = &one
	}
	return list
}

// comparesWhole reports whether an operator compares whole values, not parts of them.
func comparesWhole(op wire.Op) bool {
	return op != wire.OpIncludes && op != wire.OpStartsWith && op != wire.OpContains && terms.ShapeOf(op) != terms.ShapeNullary
}

// textMisreadings lose something of a text, or find a pattern in it.
var textMisreadings = []misreading{
	operands("the operand were written in lower case", strings.ToLower),
	operands("the operand were written in upper case", strings.ToUpper),
	operands("the operand had its blanks cut off", strings.TrimSpace),
	like(wire.OpIncludes, '_', "."), like(wire.OpStartsWith, '_', "."), like(wire.OpEq, '_', "."),
	like(wire.OpIncludes, '%', ".*"), like(wire.OpStartsWith, '%', ".*"), like(wire.OpEq, '%', ".*"),
	like(wire.OpIncludes, '*', ".*"), like(wire.OpStartsWith, '*', ".*"), like(wire.OpEq, '*', ".*"),
	pattern(wire.OpIncludes), pattern(wire.OpStartsWith),
	{as: "includes looked for whole words", read: onText(wire.OpIncludes, func(text, part string) bool {
		return slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '-' || r == ',' }), part)
	})},
	endsBefore(unicode.MaxASCII), endsBefore(unicode.MaxLatin1), endsBefore(0xffff),
	{as: "only the first line of a text counted", read: func(f wire.Filter, t wire.Type) matcher {
		if !isText(t) || !withOperands(f.Op) {
			return nil
		}
		return through(onTexts(func(text string) string { first, _, _ := strings.Cut(text, "\n"); return first }), f, t)
	}},
	{as: "an element were looked for without case", cells: onTexts(strings.ToLower), about: func(op wire.Op, _ wire.Type) bool {
		return op == wire.OpContains
	}, other: func(f wire.Filter, t wire.Type) (wire.Filter, wire.Type, bool) {
		lower, _ := Respelt(f, onTexts(strings.ToLower))
		return lower, t, f.Value.Kind() == wire.KindText
	}},
	{as: "only the first element counted", read: func(f wire.Filter, _ wire.Type) matcher {
		if f.Op != wire.OpContains || f.Value.IsNull() {
			return nil
		}
		return func(v wire.Value) bool {
			list := elementsOf(v.String())
			return len(list) > 0 && list[0].String() == f.Value.String()
		}
	}},
}

// endsBefore returns the misreading of a prefix as a range up to the prefix and a last character.
func endsBefore(last rune) misreading {
	as := fmt.Sprintf("startswith were a range that ends with U+%04X", last)
	return misreading{as: as, read: onText(wire.OpStartsWith, func(text, part string) bool {
		rest, ok := strings.CutPrefix(text, part)
		next, _ := utf8.DecodeRuneInString(rest)
		return ok && (rest == "" || next <= last)
	})}
}

// onTexts returns the change of texts alone.
func onTexts(change func(string) string) func(wire.Value) wire.Value {
	return func(v wire.Value) wire.Value {
		if v.Kind() == wire.KindText {
			return wire.Text(change(v.Text()))
		}
		return v
	}
}

// isText reports whether values are compared as texts, as those of a column without a type are.
func isText(t wire.Type) bool { return t == "" || terms.IsText(t) }

// folding returns the misreading that takes texts for equal which a function makes
// equal.
func folding(as string, change func(string) string) misreading {
	return changing(as, true, onTexts(change), func(op wire.Op, t wire.Type) bool { return isText(t) && withOperands(op) })
}

// operands returns the misreading that changes what is looked for, not the cells.
func operands(as string, change func(string) string) misreading {
	return changing(as, false, onTexts(change), func(op wire.Op, _ wire.Type) bool { return withOperands(op) })
}

// accents are letters, each followed by the one that it is without its accent.
const accents = "äaöoüuéeèeêeëeáaàaâaåaãaóoòoôoõoøoíiìiîiïiúuùuûuñnçcčcćcřršsśsžzźzżzěeęeýyłlńnąaďdťtůuğgşsıi" +
	"ÄAÖOÜUÉEÈEÊEÁAÀAÂAÅAÃAÓOÔOÕOØOÍIÎIÚUÛUÑNÇCČCĆCŘRŠSŚSŽZŹZŻZÝYŁLŞSĞGİI"

// withoutAccents has the plain letter of each of them, withAccents one of them for each
// plain letter.
var withoutAccents, withAccents = func() (plain, accented map[rune]rune) {
	plain, accented = map[rune]rune{}, map[rune]rune{}
	runes := []rune(accents)
	for i := 0; i < len(runes); i += 2 {
		plain[runes[i]] = runes[i+1]
		if _, ok := accented[runes[i+1]]; !ok {
			accented[runes[i+1]] = runes[i]
		}
	}
	return plain, accented
}()

// unaccented returns a text without its accents.
func unaccented(text string) string {
	return strings.Map(func(r rune) rune {
		if plain, ok := withoutAccents[r]; ok {
			return plain
		}
		if unicode.IsMark(r) {
			return -1
		}
		return r
	}, text)
}

// accented returns a text with an accent on the first letter that can have one.
func accented(text string) string {
	for i, r := range text {
		if with, ok := withAccents[r]; ok {
			return text[:i] + string(with) + text[i+utf8.RuneLen(r):]
		}
	}
	return text
}

// combining are letters with an accent, each followed by the same letter and a combining
// accent.
var combining = []string{
	"á", "a\u0301", "é", "e\u0301", "í", "i\u0301", "ó", "o\u0301", "ú", "u\u0301", "É", "E\u0301", "à", "a\u0300", "è", "e\u0300",
	"â", "a\u0302", "ê", "e\u0302", "ô", "o\u0302", "ä", "a\u0308", "ö", "o\u0308", "ü", "u\u0308", "ñ", "n\u0303", "Ñ", "N\u0303",
	"ç", "c\u0327", "Ç", "C\u0327", "ř", "r\u030c", "š", "s\u030c", "ž", "z\u030c", "å", "a\u030a",
}

var composing, decomposing = func() (composing, decomposing *strings.Replacer) {
	var pairs []string
	for i := 0; i < len(combining); i += 2 {
		pairs = append(pairs, combining[i+1], combining[i])
	}
	return strings.NewReplacer(pairs...), strings.NewReplacer(combining...)
}()

// composed returns a text with one character for a letter and its combining accent.
func composed(text string) string { return composing.Replace(text) }

// decomposed returns a text with combining accents.
func decomposed(text string) string { return decomposing.Replace(text) }

// sharp returns a text with ß for ss.
func sharp(text string) string { return strings.ReplaceAll(text, "ss", "ß") }

// sharpless returns a text with ss for ß.
func sharpless(text string) string { return strings.ReplaceAll(text, "ß", "ss") }

// like returns the misreading that takes a character for a wildcard.
func like(op wire.Op, wildcard rune, expression string) misreading {
	return misreading{as: string(wildcard) + " were a wildcard", read: func(f wire.Filter, t wire.Type) matcher {
		text := f.Value.String()
		if !isText(t) || f.Op != op || f.Value.IsNull() || !strings.ContainsRune(text, wildcard) {
			return nil
		}
		parts := strings.Split(text, string(wildcard))
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		return matchRegexp(op, strings.Join(parts, expression))
	}}
}

// pattern returns the misreading of an operand as a regular expression.
func pattern(op wire.Op) misreading {
	return misreading{as: "the operand were a regular expression", read: func(f wire.Filter, t wire.Type) matcher {
		if !isText(t) || f.Op != op || f.Value.IsNull() || !strings.ContainsAny(f.Value.String(), `.*+?()[]{}|^$\`) {
			return nil
		}
		return matchRegexp(op, f.Value.String())
	}}
}

func matchRegexp(op wire.Op, expression string) matcher {
	switch op {
	case wire.OpStartsWith:
		expression = "^(?:" + expression + ")"
	case wire.OpEq:
		expression = "^(?:" + expression + ")$"
	}
	compiled, err := regexp.Compile("(?s)" + expression)
	if err != nil {
		return func(wire.Value) bool { return false }
	}
	return func(v wire.Value) bool { return !v.IsNull() && compiled.MatchString(v.String()) }
}

// transportMisreadings lose a part of an operand on its way upstream.
var transportMisreadings = []misreading{
	operands("the operand ended at a character of URLs", func(text string) string {
		if i := strings.IndexAny(text, "&#;"); i >= 0 {
			return text[:i]
		}
		return text
	}),
	operands("the operand ended at a comma", func(text string) string { before, _, _ := strings.Cut(text, ","); return before }),
	operands("+ were a blank", func(text string) string { return strings.ReplaceAll(text, "+", " ") }),
	operands("the operand were escaped once too often",
		strings.NewReplacer("%", "%25", " ", "%20", "&", "%26", "/", "%2F", "+", "%2B").Replace),
	operands("quotes were doubled", func(text string) string { return strings.ReplaceAll(text, "'", "''") }),
	operands("a backslash were left out", func(text string) string { return strings.ReplaceAll(text, `\`, "") }),
	operands("characters beyond ASCII were lost", func(text string) string {
		return strings.Map(func(r rune) rune {
			if r > 127 {
				return '?'
			}
			return r
		}, text)
	}),
}

// cutText returns the misreading that cuts an operand.
func cutText(n int) misreading {
	return operands("the operand were cut after "+strconv.Itoa(n)+" bytes", func(text string) string {
		return strings.ToValidUTF8(text[:min(n, len(text))], "")
	})
}

// rareMisreadings are asked for when the others are done with.
var rareMisreadings = []misreading{
	instead(wire.OpGt, wire.OpLt), instead(wire.OpLt, wire.OpGt), instead(wire.OpGte, wire.OpLte), instead(wire.OpLte, wire.OpGte),
	instead(wire.OpGte, wire.OpEq), instead(wire.OpLte, wire.OpEq),
	{as: "neq were a search for texts that do not include the operand", read: func(f wire.Filter, t wire.Type) matcher {
		if f.Op != wire.OpNeq || f.Value.IsNull() {
			return nil
		}
		f.Op = wire.OpIncludes
		includes := right(f, t)
		return func(v wire.Value) bool { return !v.IsNull() && !includes(v) }
	}},
	{as: "includes looked at the end of the text only", read: onText(wire.OpIncludes, strings.HasSuffix)},
	folding("only letters and digits counted", func(text string) string {
		return strings.Map(func(r rune) rune {
			if r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z' && r < 128 {
				return -1
			}
			return r
		}, text)
	}),
	numerically("numbers were floats of 32 bits", func(x float64) float64 { return float64(float32(x)) }),
	numerically("numbers were rounded down to integers", math.Floor),
	numerically("numbers had one digit after the dot", func(x float64) float64 { return math.Round(x*10) / 10 }),
	numerically("numbers had no sign", math.Abs),
	rounded("the operand had one digit after the dot", func(x float64) float64 { return math.Round(x*10) / 10 }),
	rounded("the operand were a hundredth", func(x float64) float64 { return x / 100 }),
	rounded("the operand were a hundredfold", func(x float64) float64 { return x * 100 }),
	inZone(-5 * time.Hour), inZone(8 * time.Hour),
	shifted("the operand were a second later", time.Second),
	truncated("the operand were cut to the minute", time.Minute, false),
	truncated("the operand were cut to the hour", time.Hour, false),
	truncated("instants were cut to the minute", time.Minute, true),
	{as: "days were cut to the month", read: func(f wire.Filter, t wire.Type) matcher {
		if !terms.IsTime(t) || !withOperands(f.Op) {
			return nil
		}
		month := onTexts(func(text string) string { return text[:min(len(text), len("2006-01"))] })
		f, _ = Respelt(f, month)
		return through(month, f, wire.TypeString)
	}},
	operands("the operand ended at a blank", func(text string) string { before, _, _ := strings.Cut(text, " "); return before }),
	operands("a blank were +", func(text string) string { return strings.ReplaceAll(text, " ", "+") }),
	operands("quotes were left out", strings.NewReplacer("'", "", `"`, "").Replace),
	operands("a backslash were doubled", func(text string) string { return strings.ReplaceAll(text, `\`, `\\`) }),
	cutText(8), cutText(16), cutText(20), cutText(32), cutText(50), cutText(64), cutText(100), cutText(128), cutText(255),
}
