package duckdb

import "strings"

// A readerOption is a parameter of one of the engine's functions that read files. All
// that the engine has are listed: what is not stated is what the engine guesses.
type readerOption struct {
	name  string
	value string // as it stands in a statement; empty: it is not stated
	why   string
	test  string // that fails if it were otherwise
}

// ownValue stands for a value that a statement has of its table.
const ownValue = "of the table"

var partitionOptions = []readerOption{
	{"hive_partitioning", ownValue, "only folders below a table are columns of it, not those that it lies in",
		"TestSituations/folder_in_partition"},
	{"hive_types_autocast", "false", "the names of all folders decide the type, and 007 is no 7", "TestSituations/partition_codes"},
	{"hive_types", "", "the engine has all partitions as texts", "TestSituations/partition_none"},
	{"union_by_name", "false", "it widens to types that do not hold all values; the situations drift_ have those that do",
		"TestSituations/drift_an_integer_that_no_double_holds"},
	{"filename", "false", "it would add a column", "TestSituations/folder"},
}

// csvOptions are those of read_csv. The file was read as a whole before, so that every
// cell is known to be one of its column's type.
var csvOptions = append([]readerOption{
	{"auto_detect", "false", "the engine takes 20,480 rows for all: later ones are cast", "TestSituations/late_cells"},
	{"columns", ownValue, "the types that all of the file has decided; dates are texts to the reader", "TestSituations/late_cells"},
	{"header", "true", "the first line names the columns, also where all columns are texts", "TestSituations/text_another_dialect_later"},
	{"delim", ownValue, "the separator that is stated, or the only one of the header", "TestSituations/text_another_dialect_later"},
	{"quote", `'"'`, "a ' is a character", "TestSituations/text_quotes_and_line_ends"},
	{"escape", `'"'`, `a \ is a character, and a " in quotes is doubled`, "TestSituations/text_quotes_and_line_ends"},
	{"comment", "''", "#1001 is a value", "TestSituations/text_a_sign_of_comments"},
	{"skip", "0", "no line is a preamble", "TestSituations/text_another_dialect_later"},
	{"new_line", "", "the engine finds LF and CR LF in one file; it was seen to agree", "TestSituations/text_quotes_and_line_ends"},
	{"null_padding", "false", "a short line is an error", "TestSituations/text_another_length"},
	{"ignore_errors", "false", "a line that cannot be read is an error, and none is left out", "TestSituations/text_another_length"},
	{"store_rejects", "false", "the same", "TestSituations/text_another_length"},
	{"strict_mode", "true", "a quote that is not closed is an error", "TestSituations/text_quotes_and_line_ends"},
	{"nullstr", "''", "an empty cell is null, and NULL a text", "TestSituations/text_words_for_nothing"},
	{"allow_quoted_nulls", "true", "an empty cell in quotes is null, as it is to filesource", "TestSituations/text_quotes_and_line_ends"},
	{"encoding", "'utf-8'", "other encodings are read by this package", "TestSituations/text_utf_16_by_its_mark"},
	{"decimal_separator", "'.'", "files with a decimal comma are read by this package", "TestSituations/format_by_the_option"},
	{"compression", ownValue, "what the name says", "TestSituations/text_compressed"},
	{"max_line_size", "16777216", "the longest record that an answer can have", "TestLongCells"},
	{"buffer_size", "33554432", "two records; the engine's own would be sixteen", "TestLongCells"},
	{"parallel", "true", "rows keep their order", "TestSituations/folder_order"},
	{"all_varchar", "", "the columns have types", "TestSituations/late_cells"},
	{"auto_type_candidates", "", "nothing is detected", "TestSituations/late_cells"},
	{"sample_size", "", "the same", "TestSituations/late_cells"},
	{"files_to_sniff", "", "the same", "TestSituations/late_cells"},
	{"names", "", "columns has them", "TestSituations/late_cells"},
	{"column_names", "", "the same", "TestSituations/late_cells"},
	{"types", "", "columns has them", "TestSituations/late_cells"},
	{"dtypes", "", "the same", "TestSituations/late_cells"},
	{"column_types", "", "the same", "TestSituations/late_cells"},
	{"sep", "", "another name of delim", "TestSituations/text_tabs"},
	{"maximum_line_size", "", "another name of max_line_size", "TestLongCells"},
	{"normalize_names", "", "columns has the names", "TestSituations/folder"},
	{"force_not_null", "", "an empty cell is null in each column", "TestSituations/text_words_for_nothing"},
	{"dateformat", "", "the reader has no column of dates: ISO alone is one, and is cast from its text",
		"TestSituations/text_dates_of_somebody"},
	{"timestampformat", "", "the same of datetimes", "TestSituations/late_cells"},
	{"thousands", "", "none by default, and the engine takes no empty one", "TestSituations/late_cells"},
	{"rejects_scan", "", "there are no rejects", "TestSituations/text_another_length"},
	{"rejects_table", "", "the same", "TestSituations/text_another_length"},
	{"rejects_limit", "", "the same", "TestSituations/text_another_length"},
}, partitionOptions...)

// parquetOptions are those of read_parquet.
var parquetOptions = append([]readerOption{
	{"binary_as_string", "false", "bytes are base64, unless the file says that they are a text", "TestSituations/drift_bytes_and_a_text"},
	{"file_row_number", "false", "it would add a column; the rows' numbers are read without", "TestFolderRowNumbers"},
	{"can_have_nan", "", "statistics are about values that can be sent, and a NaN is null", "TestDifferential"},
	{"compression", "", "the file says it", "TestSituations/folder"},
	{"schema", "", "it names columns by numbers that few files have", "TestSituations/drift_names_in_two_cases"},
	{"encryption_config", "", "nobody has a key", "TestSituations/folder"},
	{"explicit_cardinality", "", "the files say it", "TestSituations/folder"},
	{"parquet_version", "", "it is for writing", "TestSituations/folder"},
	{"debug_use_openssl", "", "it is about encrypted files", "TestSituations/folder"},
}, partitionOptions...)

// jsonOptions are those of read_json, which is not asked: it has the numbers of a file as
// doubles, and takes the last of two members of one name. This package reads JSON.
var jsonOptions = func() (list []readerOption) {
	const why = "the engine reads no JSON: it has no way to keep the digits of 12345678901234567.89"
	for _, name := range []string{
		"auto_detect", "columns", "compression", "convert_strings_to_integers", "date_format", "dateformat",
		"field_appearance_threshold", "filename", "format", "hive_partitioning", "hive_types", "hive_types_autocast",
		"ignore_errors", "map_inference_threshold", "maximum_depth", "maximum_object_size", "maximum_sample_files", "records",
		"sample_size", "timestamp_format", "timestampformat", "union_by_name",
	} {
		list = append(list, readerOption{name: name, why: why, test: "TestSituations/text_numbers_of_json"})
	}
	return list
}()

// stated returns the options of a list that are stated, and those of a table.
func stated(list []readerOption, own map[string]string) string {
	var b strings.Builder
	for _, o := range list {
		value := o.value
		if value == ownValue {
			value = own[o.name]
		}
		if value != "" {
			b.WriteString(", " + o.name + " = " + value)
		}
	}
	return b.String()
}
