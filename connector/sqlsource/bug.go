package sqlsource

// A bug can be planted in the SQL builder, to prove that the tests find it.
// Nothing but a build with the tag plantedbugs can.
type bug string

const (
	bugNinNull      bug = "nin drops null cells"
	bugNullMember   bug = "null members of a list are compared"
	bugValid        bug = "values that are null on the wire match comparators"
	bugFloor        bug = "an operand that was cut keeps its operator"
	bugOr           bug = "or is joined to and by OR"
	bugGroupOr      bug = "filters of a group are joined by OR"
	bugNullsFirst   bug = "nulls stand where the engine has them"
	bugTie          bug = "ties are broken backwards"
	bugOffset       bug = "the offset is off by one"
	bugInnerJoin    bug = "joins are inner joins"
	bugCountDupes   bug = "count_distinct counts duplicates"
	bugNullGroup    bug = "the group of nulls is dropped"
	bugPrefixInside bug = "startswith looks inside"
	bugHitRateRows  bug = "orphans are counted once a value, not once a row"
)
