cippus where file expression
