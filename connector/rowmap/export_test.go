package rowmap

// DecimalDigits is how the digits of a decimal are written.
var DecimalDigits = decimalDigits
