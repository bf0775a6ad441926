"""Fifty indefinite integrals, most from textbooks; the first four are those of seed 004 and of issue 14."""

SOLVED = [
    "tan(x)^4", "exp(x)*sin(x)", "1/(x^3+1)", "x^4/(1-x^2)^(5/2)",
    "x^2*exp(x)", "log(x)^2", "x^2*cos(x)", "sin(x)^3", "sin(x)^2*cos(x)^3", "cos(x)^4", "tan(x)",
    "1/(x^2+4*x+5)", "x^3/(x^2+1)", "1/(x^2-1)", "sqrt(1-x^2)", "x*exp(x^2)", "exp(2*x)*cos(3*x)",
    "1/(x*log(x))", "atan(x)", "asin(x)", "x*atan(x)", "sin(log(x))", "exp(sqrt(x))", "1/(1+exp(x))",
    "exp(x)/(1+exp(2*x))", "1/(x^4-1)", "1/(x^4+1)", "x/(x^2+2*x+2)", "1/(x^2+1)^2", "1/cos(x)",
    "1/sin(x)", "1/cos(x)^4", "sin(3*x)*cos(5*x)", "x*cos(x)^2", "1/(1+x^2)^(3/2)", "x^2/sqrt(1-x^2)",
    "sqrt(x)/(1+x)", "x*sinh(x)", "x^3*exp(-x^2)", "cos(x)/(1+sin(x)^2)", "x*2^x", "(x+1)/(x^3+x)",
    "sin(x)^5", "1/sqrt(x^2+1)", "sqrt(x^2+1)", "1/(2+cos(x))", "sqrt(tan(x))",
]  # fmt: skip

UNSOLVED = ["x*tan(x)^2", "1/(sin(x)+cos(x))", "x*exp(x)*sin(x)"]
