package connector_test

import (
	"context"

	"github.com/connectorsdk/connector-sdk-go/connector"
	"github.com/connectorsdk/connector-sdk-go/wire"
)

// combinations are sources of every set of the seven optional interfaces that
// show as endpoints or flags, but for grains without aggregates. The key is the
// set: bit 0 Size, 1 Count, 2 Aggregate, 3 AggregateByDate, 4 Cardinality,
// 5 LinkHitRate, 6 QueryJoined; TestCombinations holds each to it. A type's
// methods cannot be put together at run time, so each type below adds the
// method of its highest bit to the type without it.
var combinations = map[int]connector.Source{
	0: s0{}, 1: s1{}, 2: s2{}, 3: s3{}, 4: s4{}, 5: s5{}, 6: s6{}, 7: s7{},
	12: s12{}, 13: s13{}, 14: s14{}, 15: s15{}, 16: s16{}, 17: s17{}, 18: s18{}, 19: s19{},
	20: s20{}, 21: s21{}, 22: s22{}, 23: s23{}, 28: s28{}, 29: s29{}, 30: s30{}, 31: s31{},
	32: s32{}, 33: s33{}, 34: s34{}, 35: s35{}, 36: s36{}, 37: s37{}, 38: s38{}, 39: s39{},
	44: s44{}, 45: s45{}, 46: s46{}, 47: s47{}, 48: s48{}, 49: s49{}, 50: s50{}, 51: s51{},
	52: s52{}, 53: s53{}, 54: s54{}, 55: s55{}, 60: s60{}, 61: s61{}, 62: s62{}, 63: s63{},
	64: s64{}, 65: s65{}, 66: s66{}, 67: s67{}, 68: s68{}, 69: s69{}, 70: s70{}, 71: s71{},
	76: s76{}, 77: s77{}, 78: s78{}, 79: s79{}, 80: s80{}, 81: s81{}, 82: s82{}, 83: s83{},
	84: s84{}, 85: s85{}, 86: s86{}, 87: s87{}, 92: s92{}, 93: s93{}, 94: s94{}, 95: s95{},
	96: s96{}, 97: s97{}, 98: s98{}, 99: s99{}, 100: s100{}, 101: s101{}, 102: s102{}, 103: s103{},
	108: s108{}, 109: s109{}, 110: s110{}, 111: s111{}, 112: s112{}, 113: s113{}, 114: s114{}, 115: s115{},
	116: s116{}, 117: s117{}, 118: s118{}, 119: s119{}, 124: s124{}, 125: s125{}, 126: s126{}, 127: s127{},
}

type (
	ctx      = context.Context
	counts   = map[string]*wire.Cardinality
	sizeReq  = wire.SizeRequest
	countReq = wire.CountRequest
	aggReq   = wire.AggregateRequest
	cardReq  = wire.CardinalityRequest
	linkReq  = wire.LinkHitRateRequest
)

type s0 struct{ core }
type s1 struct{ s0 }
type s2 struct{ s0 }
type s3 struct{ s1 }
type s4 struct{ s0 }
type s5 struct{ s1 }
type s6 struct{ s2 }
type s7 struct{ s3 }
type s12 struct{ s4 }
type s13 struct{ s5 }
type s14 struct{ s6 }
type s15 struct{ s7 }
type s16 struct{ s0 }
type s17 struct{ s1 }
type s18 struct{ s2 }
type s19 struct{ s3 }
type s20 struct{ s4 }
type s21 struct{ s5 }
type s22 struct{ s6 }
type s23 struct{ s7 }
type s28 struct{ s12 }
type s29 struct{ s13 }
type s30 struct{ s14 }
type s31 struct{ s15 }
type s32 struct{ s0 }
type s33 struct{ s1 }
type s34 struct{ s2 }
type s35 struct{ s3 }
type s36 struct{ s4 }
type s37 struct{ s5 }
type s38 struct{ s6 }
type s39 struct{ s7 }
type s44 struct{ s12 }
type s45 struct{ s13 }
type s46 struct{ s14 }
type s47 struct{ s15 }
type s48 struct{ s16 }
type s49 struct{ s17 }
type s50 struct{ s18 }
type s51 struct{ s19 }
type s52 struct{ s20 }
type s53 struct{ s21 }
type s54 struct{ s22 }
type s55 struct{ s23 }
type s60 struct{ s28 }
type s61 struct{ s29 }
type s62 struct{ s30 }
type s63 struct{ s31 }
type s64 struct{ s0 }
type s65 struct{ s1 }
type s66 struct{ s2 }
type s67 struct{ s3 }
type s68 struct{ s4 }
type s69 struct{ s5 }
type s70 struct{ s6 }
type s71 struct{ s7 }
type s76 struct{ s12 }
type s77 struct{ s13 }
type s78 struct{ s14 }
type s79 struct{ s15 }
type s80 struct{ s16 }
type s81 struct{ s17 }
type s82 struct{ s18 }
type s83 struct{ s19 }
type s84 struct{ s20 }
type s85 struct{ s21 }
type s86 struct{ s22 }
type s87 struct{ s23 }
type s92 struct{ s28 }
type s93 struct{ s29 }
type s94 struct{ s30 }
type s95 struct{ s31 }
type s96 struct{ s32 }
type s97 struct{ s33 }
type s98 struct{ s34 }
type s99 struct{ s35 }
type s100 struct{ s36 }
type s101 struct{ s37 }
type s102 struct{ s38 }
type s103 struct{ s39 }
type s108 struct{ s44 }
type s109 struct{ s45 }
type s110 struct{ s46 }
type s111 struct{ s47 }
type s112 struct{ s48 }
type s113 struct{ s49 }
type s114 struct{ s50 }
type s115 struct{ s51 }
type s116 struct{ s52 }
type s117 struct{ s53 }
type s118 struct{ s54 }
type s119 struct{ s55 }
type s124 struct{ s60 }
type s125 struct{ s61 }
type s126 struct{ s62 }
type s127 struct{ s63 }

func (s1) Size(ctx, *sizeReq) (*wire.Size, error)                            { return nil, nil }
func (s2) Count(ctx, *countReq) (int64, error)                               { return 0, nil }
func (s3) Count(ctx, *countReq) (int64, error)                               { return 0, nil }
func (s4) Aggregate(ctx, *aggReq) (*connector.AggregateAnswer, error)        { return nil, nil }
func (s5) Aggregate(ctx, *aggReq) (*connector.AggregateAnswer, error)        { return nil, nil }
func (s6) Aggregate(ctx, *aggReq) (*connector.AggregateAnswer, error)        { return nil, nil }
func (s7) Aggregate(ctx, *aggReq) (*connector.AggregateAnswer, error)        { return nil, nil }
func (s12) AggregateByDate(ctx, *aggReq) (*connector.AggregateAnswer, error) { return nil, nil }
func (s13) AggregateByDate(ctx, *aggReq) (*connector.AggregateAnswer, error) { return nil, nil }
func (s14) AggregateByDate(ctx, *aggReq) (*connector.AggregateAnswer, error) { return nil, nil }
func (s15) AggregateByDate(ctx, *aggReq) (*connector.AggregateAnswer, error) { return nil, nil }
func (s16) Cardinality(ctx, *cardReq) (counts, error)                        { return nil, nil }
func (s17) Cardinality(ctx, *cardReq) (counts, error)                        { return nil, nil }
func (s18) Cardinality(ctx, *cardReq) (counts, error)                        { return nil, nil }
func (s19) Cardinality(ctx, *cardReq) (counts, error)                        { return nil, nil }
func (s20) Cardinality(ctx, *cardReq) (counts, error)                        { return nil, nil }
func (s21) Cardinality(ctx, *cardReq) (counts, error)                        { return nil, nil }
func (s22) Cardinality(ctx, *cardReq) (counts, error)                        { return nil, nil }
func (s23) Cardinality(ctx, *cardReq) (counts, error)                        { return nil, nil }
func (s28) Cardinality(ctx, *cardReq) (counts, error)                        { return nil, nil }
func (s29) Cardinality(ctx, *cardReq) (counts, error)                        { return nil, nil }
func (s30) Cardinality(ctx, *cardReq) (counts, error)                        { return nil, nil }
func (s31) Cardinality(ctx, *cardReq) (counts, error)                        { return nil, nil }
func (s32) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s33) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s34) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s35) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s36) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s37) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s38) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s39) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s44) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s45) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s46) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s47) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s48) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s49) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s50) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s51) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s52) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s53) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s54) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s55) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s60) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s61) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s62) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s63) LinkHitRate(ctx, *linkReq) (*wire.LinkHitRate, error)             { return nil, nil }
func (s64) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s65) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s66) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s67) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s68) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s69) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s70) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s71) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s76) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s77) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s78) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s79) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s80) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s81) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s82) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s83) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s84) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s85) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s86) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s87) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s92) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s93) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s94) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s95) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s96) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s97) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s98) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s99) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error  { return nil }
func (s100) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error { return nil }
func (s101) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error { return nil }
func (s102) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error { return nil }
func (s103) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error { return nil }
func (s108) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error { return nil }
func (s109) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error { return nil }
func (s110) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error { return nil }
func (s111) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error { return nil }
func (s112) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error { return nil }
func (s113) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error { return nil }
func (s114) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error { return nil }
func (s115) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error { return nil }
func (s116) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error { return nil }
func (s117) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error { return nil }
func (s118) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error { return nil }
func (s119) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error { return nil }
func (s124) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error { return nil }
func (s125) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error { return nil }
func (s126) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error { return nil }
func (s127) QueryJoined(ctx, *connector.QueryRequest, *connector.Rows) error { return nil }
