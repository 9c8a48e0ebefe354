package jsontext

import "errors"

// Refusal makes encoding/json fail for a struct that embeds it. Package wire embeds it
// where the members that struct tags could state are not those of the protocol: an
// error is better than JSON that is wrong in silence.
type Refusal struct{}

var errRefused = errors.New("encoding/json cannot spell the messages of the protocol; " +
	"use wire.EncodeRequest, wire.EncodeAnswer, wire.Decode or wire.DecodeAnswer")

// MarshalJSON returns an error that names the functions to use.
func (Refusal) MarshalJSON() ([]byte, error) { return nil, errRefused }

// UnmarshalJSON returns an error that names the functions to use.
func (*Refusal) UnmarshalJSON([]byte) error { return errRefused }
