// Of what there is too little: the errors of the fields that ask for more, if a refusal names any. `fieldOf(line)`: the
// name of the field; `where`: what has no more.

export const shortage = ({ body }, fieldOf, where = "in stock") =>
  body?.lines?.map((line) => ({ field: fieldOf(line), message: `Only ${line.available} ${where}` }));
