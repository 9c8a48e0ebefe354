package textfile

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// The encodings of one byte a character: for each, the characters of the bytes from
// 0x80. U+FFFD stands for a byte without a character.
var codePages = map[string]*codePage{
	"iso-8859-1":  page(noControls + latin1),
	"iso-8859-15": page(noControls + latin9),
	"windows-1250": page("€\ufffd‚\ufffd„…†‡\ufffd‰Š‹ŚŤŽŹ\ufffd‘’“”•–—\ufffd™š›śťžź\u00a0ˇ˘Ł¤Ą¦§¨©Ş«¬\u00ad®Ż°±˛ł´µ¶·¸ąş»Ľ˝ľż" +
		"ŔÁÂĂÄĹĆÇČÉĘËĚÍÎĎĐŃŇÓÔŐÖ×ŘŮÚŰÜÝŢßŕáâăäĺćçčéęëěíîďđńňóôőö÷řůúűüýţ˙"),
	"windows-1251": page("ЂЃ‚ѓ„…†‡€‰Љ‹ЊЌЋЏђ‘’“”•–—\ufffd™љ›њќћџ\u00a0ЎўЈ¤Ґ¦§Ё©Є«¬\u00ad®Ї°±Ііґµ¶·ё№є»јЅѕї" +
		"АБВГДЕЖЗИЙКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯабвгдежзийклмнопрстуфхцчшщъыьэюя"),
	"windows-1252": page("€\ufffd‚ƒ„…†‡ˆ‰Š‹Œ\ufffdŽ\ufffd\ufffd‘’“”•–—˜™š›œ\ufffdžŸ" + latin1),
	"ibm850": page("ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐" +
		"└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0"),
	"macintosh": page("ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø" +
		"¿¡¬√ƒ≈∆«»…\u00a0ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\uf8ffÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ"),
}

// encodings are the names of all encodings, for a message.
var encodings = append([]string{utf8Name, "utf-16", "utf-16le", "utf-16be"}, slices.Sorted(maps.Keys(codePages))...)

// otherNames are the names of encodings that other programs use.
var otherNames = map[string]string{
	"utf8": utf8Name, "utf16": "utf-16", "utf-16-le": "utf-16le", "utf-16-be": "utf-16be",
	"latin-1": "iso-8859-1", "latin1": "iso-8859-1", "iso8859-1": "iso-8859-1",
	"latin-9": "iso-8859-15", "latin9": "iso-8859-15", "iso8859-15": "iso-8859-15",
	"cp1250": "windows-1250", "cp1251": "windows-1251", "cp1252": "windows-1252",
	"cp850": "ibm850", "macroman": "macintosh",
}

// The bytes from 0x80 to 0x9F are control characters in Latin-1 and Latin-9. No office
// writes them: a text that has them is in another encoding, mostly windows-1252.
var noControls = strings.Repeat("\ufffd", 32)

var (
	latin1 = "\u00a0¡¢£¤¥¦§¨©ª«¬\u00ad®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞß" +
		"àáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ"
	latin9 = strings.NewReplacer("¤", "€", "¦", "Š", "¨", "š", "´", "Ž", "¸", "ž", "¼", "Œ", "½", "œ", "¾", "Ÿ").Replace(latin1)
)

// codePage has the UTF-8 of each byte; an empty text for a byte that is no character.
type codePage [256]string

func page(upper string) *codePage {
	var p codePage
	for i := range 0x80 {
		p[i] = string(rune(i))
	}
	for i, r := range []rune(upper) {
		if r != utf8.RuneError {
			p[0x80+i] = string(r)
		}
	}
	return &p
}
