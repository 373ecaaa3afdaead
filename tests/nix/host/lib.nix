# The part of nixpkgs' lib that the module and its test use: options with defaults, and settings laid over them.
rec {
  hasPrefix = prefix: text: builtins.substring 0 (builtins.stringLength prefix) text == prefix;
  literalExpression = text: { inherit text; };
  mkIf = condition: content: { _if = condition; inherit content; };
  mkOption = option: { _option = true; } // option;
  mkEnableOption = description: mkOption { default = false; inherit description; };
  types = {
    anything = null;
    package = null;
    str = null;
    attrsOf = _: null;
    listOf = _: null;
    nullOr = _: null;
  };

  merge = a: b:
    a // builtins.mapAttrs (name: value:
      if builtins.isAttrs value && a ? ${name} && builtins.isAttrs a.${name} then merge a.${name} value else value) b;

  # What options are when nothing is set; those without a default must not be looked at.
  defaults = options: builtins.mapAttrs (name: option:
    if option ? _option then option.default or (throw "${name} is not set") else defaults option) options;

  evalModules = { modules }:
    let
      called = map (module: if builtins.isFunction module then module { config = base; lib = import ./lib.nix; pkgs = arguments.pkgs; } else module) modules;
      options = builtins.foldl' (all: module: merge all (module.options or { })) { } called;
      settings = module: if module ? config then module.config else builtins.removeAttrs module [ "options" ];
      # Plain settings first: they are all that modules see here, and what decides whether conditional ones count.
      plain = builtins.filter (one: !(one ? _if)) (map settings called);
      conditional = builtins.filter (one: one ? _if) (map settings called);
      base = builtins.foldl' merge (defaults options) plain;
      arguments = (builtins.foldl' merge { } (map (module: if module ? config then module.config else { }) (builtins.filter builtins.isAttrs modules)))._module.args;
      config = builtins.foldl' (all: one: if one._if then merge all one.content else all) base conditional;
    in
    { inherit config; };
}
